// All architectures. Another one is a file in `architectures` and a line here.
import { bert, distilBert, nomicBert, roberta } from './architectures/bert.js'
import { bloom } from './architectures/bloom.js'
import { cohere2, commandR } from './architectures/cohere.js'
import { deepseek2 } from './architectures/deepseek.js'
import { exaone } from './architectures/exaone.js'
import { falcon } from './architectures/falcon.js'
import { gemma, gemma2, gemma3 } from './architectures/gemma.js'
import { gptOss } from './architectures/gpt-oss.js'
import { codeShell, gpt2, starcoder } from './architectures/gpt2.js'
import { gptNeoX } from './architectures/gptneox.js'
import { granite, graniteMoe } from './architectures/granite.js'
import { llama, seedOss, smolLm3 } from './architectures/llama.js'
import { llama4 } from './architectures/llama4.js'
import { olmo, olmo2, olmoe } from './architectures/olmo.js'
import { phi2, phi3, phiMoe } from './architectures/phi.js'
import { qwen2, qwen2Moe, qwen3, qwen3Moe } from './architectures/qwen.js'
import { stableLm } from './architectures/stablelm.js'
import { starcoder2 } from './architectures/starcoder2.js'
import type { Family } from './family.js'

export const families: readonly Family[] = [
  llama,
  llama4,
  smolLm3,
  seedOss,
  qwen2,
  qwen3,
  qwen2Moe,
  qwen3Moe,
  gemma,
  gemma2,
  gemma3,
  phi2,
  phi3,
  phiMoe,
  granite,
  graniteMoe,
  olmo,
  olmo2,
  olmoe,
  commandR,
  cohere2,
  deepseek2,
  gptOss,
  gpt2,
  gptNeoX,
  starcoder,
  starcoder2,
  codeShell,
  falcon,
  bloom,
  exaone,
  stableLm,
  bert,
  distilBert,
  roberta,
  nomicBert,
]

/** The family whose models the configuration calls by this class. */
export const familyOfClass = (name: string): Family | undefined =>
  families.find(({ classes }) => classes.includes(name))
