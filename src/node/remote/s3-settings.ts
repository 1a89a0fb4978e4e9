// Where AWS tools look for credentials, regions and endpoints: the environment, then the profile files, then whatever the credential provider
// of AWS finds, if that package is installed (single sign-on, roles of machines and containers).
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { S3Credentials, S3Options } from '../../remote/s3/client.js'

type Settings = Readonly<Record<string, string>>

/** What the environment and the profile files say. Credentials are looked up with the first request. */
export async function s3Settings(env: NodeJS.ProcessEnv = process.env): Promise<S3Options> {
  const profile = await readProfile(env)
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || profile.endpoint_url
  return {
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || profile.region,
    endpoint: endpoint || undefined,
    credentials: () => findCredentials(env),
  }
}

/**
 * The keys for Google's store that work with signatures like those of S3. They have names of their own, as in `gsutil`: keys of AWS are not
 * Google's business.
 */
export async function googleSettings(env: NodeJS.ProcessEnv = process.env): Promise<S3Options> {
  return {
    endpoint: env.STORAGE_EMULATOR_HOST || undefined,
    credentials: async () => {
      const file = await textOf(env.BOTO_CONFIG || join(homedir(), '.boto'))
      const { gs_access_key_id, gs_secret_access_key } = sectionOf(file, ['Credentials'])
      return credentialsIn({
        aws_access_key_id: env.GS_ACCESS_KEY_ID || (gs_access_key_id ?? ''),
        aws_secret_access_key: env.GS_SECRET_ACCESS_KEY || (gs_secret_access_key ?? ''),
      })
    },
  }
}

async function findCredentials(env: NodeJS.ProcessEnv): Promise<S3Credentials | undefined> {
  const fromEnvironment = credentialsIn({
    aws_access_key_id: env.AWS_ACCESS_KEY_ID ?? '',
    aws_secret_access_key: env.AWS_SECRET_ACCESS_KEY ?? '',
    aws_session_token: env.AWS_SESSION_TOKEN ?? '',
  })
  return fromEnvironment ?? credentialsIn(await readProfile(env)) ?? askProvider()
}

function credentialsIn(settings: Settings): S3Credentials | undefined {
  const { aws_access_key_id, aws_secret_access_key, aws_session_token } = settings
  if (!aws_access_key_id || !aws_secret_access_key) return undefined
  return {
    accessKeyId: aws_access_key_id,
    secretAccessKey: aws_secret_access_key,
    ...(aws_session_token && { sessionToken: aws_session_token }),
  }
}

/** Both files have sections of `key = value`; in the one for settings they are called `profile NAME`. */
async function readProfile(env: NodeJS.ProcessEnv): Promise<Settings> {
  const name = env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE || 'default'
  const home = join(homedir(), '.aws')
  const settings = sectionOf(await textOf(env.AWS_CONFIG_FILE || join(home, 'config')), [`profile ${name}`, name])
  const secrets = sectionOf(await textOf(env.AWS_SHARED_CREDENTIALS_FILE || join(home, 'credentials')), [name])
  return { ...settings, ...secrets }
}

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

export function sectionOf(text: string, names: readonly string[]): Settings {
  const found: Record<string, string> = Object.create(null)
  let isInside = false
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]
    if (section !== undefined) isInside = names.includes(section.replace(/\s+/g, ' '))
    const [, key, value] = /^([a-z_]+)\s*=\s*(.*?)\s*$/i.exec(line) ?? []
    if (isInside && key !== undefined) found[key.toLowerCase()] = value!
  }
  return found
}

/** Undefined where the package is not installed, or finds nothing: then requests are not signed. */
async function askProvider(): Promise<S3Credentials | undefined> {
  try {
    const name: string = '@aws-sdk/credential-provider-node'
    const { defaultProvider } = (await import(name)) as { defaultProvider: () => () => Promise<S3Credentials> }
    return await defaultProvider()()
  } catch {
    return undefined
  }
}
