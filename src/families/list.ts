// All architectures. Another one is a file in `architectures` and a line here.
import { baichuan, orion } from './architectures/baichuan.js'
import { bert, distilBert, nomicBert, roberta, xlmRoberta } from './architectures/bert.js'
import { bloom } from './architectures/bloom.js'
import { cohere2, commandR } from './architectures/cohere.js'
import { deepseek, deepseek2, dots1 } from './architectures/deepseek.js'
import { ernie45, ernie45Moe } from './architectures/ernie.js'
import { exaone, exaone4 } from './architectures/exaone.js'
import { falcon } from './architectures/falcon.js'
import { gemma, gemma2, gemma3 } from './architectures/gemma.js'
import { glm4 } from './architectures/glm.js'
import { gptOss } from './architectures/gpt-oss.js'
import { codeShell, gpt2, starcoder } from './architectures/gpt2.js'
import { gptNeoX } from './architectures/gptneox.js'
import { granite, graniteMoe } from './architectures/granite.js'
import { hunyuanDense } from './architectures/hunyuan.js'
import { internLm2, internLm3 } from './architectures/internlm.js'
import { arcee, llama, llamaEmbed, seedOss, smolLm3 } from './architectures/llama.js'
import { llama4 } from './architectures/llama4.js'
import { miniCpm } from './architectures/minicpm.js'
import { modernBert } from './architectures/modern-bert.js'
import { mpt } from './architectures/mpt.js'
import { nemotron } from './architectures/nemotron.js'
import { olmo, olmo2, olmoe } from './architectures/olmo.js'
import { phi2, phi3, phiMoe } from './architectures/phi.js'
import { qwen2, qwen2Moe, qwen3, qwen3Moe } from './architectures/qwen.js'
import { stableLm } from './architectures/stablelm.js'
import { starcoder2 } from './architectures/starcoder2.js'
import type { Family } from './family.js'

export const families: readonly Family[] = [
  llama,
  llama4,
  llamaEmbed,
  arcee,
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
  deepseek,
  deepseek2,
  dots1,
  gptOss,
  gpt2,
  gptNeoX,
  starcoder,
  starcoder2,
  codeShell,
  falcon,
  bloom,
  exaone,
  exaone4,
  ernie45,
  ernie45Moe,
  glm4,
  hunyuanDense,
  internLm2,
  internLm3,
  miniCpm,
  baichuan,
  orion,
  mpt,
  nemotron,
  stableLm,
  bert,
  distilBert,
  roberta,
  xlmRoberta,
  nomicBert,
  modernBert,
]

/** The family whose models the configuration calls by this class. */
export const familyOfClass = (name: string): Family | undefined =>
  families.find(({ classes }) => classes.includes(name))
