// The methods of a quantization as a file that people edit, and that --methods reads.
import { type ByteSource, type MethodChoice, openOutput } from '../../../kit-node.js'
import { assertNotInput } from '../../output/output.js'

export async function saveMethods(
  file: string,
  choices: readonly MethodChoice[],
  inputs: readonly ByteSource[],
): Promise<void> {
  await assertNotInput(file, inputs)
  const shortName = (method: string | undefined): string => method?.replace(/^.*\./, '') ?? 'keep'
  const lines = choices.map(({ name, method }) => `  ${JSON.stringify(name)}: ${JSON.stringify(shortName(method))}`)
  const sink = await openOutput(file)
  try {
    await sink.write(new TextEncoder().encode(`{\n${lines.join(',\n')}\n}\n`))
    await sink.close()
  } catch (error) {
    await sink.abort(error)
    throw error
  }
}
