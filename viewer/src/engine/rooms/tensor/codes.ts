// What codes mean, in the words of the documentation.
import { allCodes } from 'tare/kit'
import type { Call } from '../../calls.js'
import type { Handlers } from '../../serve.js'

export interface CodesCalls {
  codes: Call<{ readonly codes: readonly string[] }, Readonly<Record<string, string>>>
}

export const codesHandlers: Handlers = {
  codes: ({ codes }: CodesCalls['codes']['ask']) => {
    const wanted = new Set(codes)
    return Object.fromEntries(allCodes().flatMap(({ code, text }) => (wanted.has(code) ? [[code, text]] : [])))
  },
}
