// All architectures. Another one is a file in `architectures` and a line here: `decoders` for layers like Llama's, dense or with experts; `moe` for families that always have experts;
// `gpt` for the designs before Llama, with learned positions or a bias of the attention and names of their own; `encoders` for BERT and its relatives.
import { baichuan, orion } from './architectures/decoders/baichuan.js'
import { cohere2, commandR } from './architectures/decoders/cohere.js'
import { ernie45, ernie45Moe, paddleOcr } from './architectures/decoders/ernie.js'
import { exaone, exaone4, exaoneMoe } from './architectures/decoders/exaone.js'
import { gemma, gemma2, gemma3, gemmaEmbedding } from './architectures/decoders/gemma.js'
import { gemma3n } from './architectures/decoders/gemma3n.js'
import { gemma4 } from './architectures/decoders/gemma4.js'
import { chatGlm, glm4, glm4Moe, glm4vMoe, glm4WithSections, glmOcr, solarOpen } from './architectures/decoders/glm.js'
import { granite, graniteMoe } from './architectures/decoders/granite.js'
import { hunyuanDense } from './architectures/decoders/hunyuan.js'
import { internLm2, internLm3 } from './architectures/decoders/internlm.js'
import {
  arcee,
  llama,
  llamaEmbed,
  mistral3,
  nanbeige,
  panguEmbedded,
  seedOss,
  smolLm3,
} from './architectures/decoders/llama.js'
import { miniCpm } from './architectures/decoders/minicpm.js'
import { miniCpm3 } from './architectures/decoders/minicpm3.js'
import { nemotron } from './architectures/decoders/nemotron.js'
import { olmo, olmo2, olmoe } from './architectures/decoders/olmo.js'
import { phi2, phi3, phiMoe } from './architectures/decoders/phi.js'
import { plm } from './architectures/decoders/plm.js'
import {
  maincoder,
  qwen2,
  qwen2Moe,
  qwen2Vl,
  qwen3,
  qwen3Moe,
  qwen3Vl,
  qwen3VlMoe,
} from './architectures/decoders/qwen.js'
import { stableLm } from './architectures/decoders/stablelm.js'
import { starcoder2 } from './architectures/decoders/starcoder2.js'
import { dream, llada, lladaMoe } from './architectures/diffusion.js'
import {
  bert,
  distilBert,
  jinaBert2,
  nomicBert,
  nomicBertMoe,
  roberta,
  xlmRoberta,
} from './architectures/encoders/bert.js'
import { euroBert } from './architectures/encoders/eurobert.js'
import { modernBert } from './architectures/encoders/modern-bert.js'
import { t5, t5Encoder } from './architectures/encoders/t5.js'
import { bloom } from './architectures/gpt/bloom.js'
import { falcon } from './architectures/gpt/falcon.js'
import { codeShell, gpt2, starcoder } from './architectures/gpt/gpt2.js'
import { gptNeoX } from './architectures/gpt/gptneox.js'
import { mpt } from './architectures/gpt/mpt.js'
import { falconH1 } from './architectures/hybrids/falcon-h1.js'
import { bamba, graniteHybrids } from './architectures/hybrids/granite-hybrid.js'
import { jamba } from './architectures/hybrids/jamba.js'
import { lfm2, lfm2Moe } from './architectures/hybrids/lfm2.js'
import { mamba, mamba2 } from './architectures/hybrids/mamba.js'
import { nemotronH, nemotronHMoe } from './architectures/hybrids/nemotron-h.js'
import { qwen3Next } from './architectures/hybrids/qwen3-next.js'
import { qwen35, qwen35Moe } from './architectures/hybrids/qwen35.js'
import { bailingMoe, bailingMoe2 } from './architectures/moe/bailing.js'
import { dbrx } from './architectures/moe/dbrx.js'
import { deepseek, deepseek2, dots1, glm4MoeLite } from './architectures/moe/deepseek.js'
import { gptOss } from './architectures/moe/gpt-oss.js'
import { llama4 } from './architectures/moe/llama4.js'
import { afMoe, groveMoe, mellum, miniMaxM2, rnd1, smallThinker } from './architectures/moe/qwen-like.js'
import { deepseek32, glmDsa } from './architectures/moe/sparse-attention.js'
import type { Config, Family } from './family.js'

export const families: readonly Family[] = [
  llama,
  mistral3,
  llama4,
  llamaEmbed,
  arcee,
  smolLm3,
  seedOss,
  nanbeige,
  panguEmbedded,
  qwen2,
  qwen3,
  qwen2Moe,
  qwen3Moe,
  qwen3Next,
  qwen35,
  qwen35Moe,
  maincoder,
  qwen2Vl,
  qwen3Vl,
  qwen3VlMoe,
  gemma,
  gemma2,
  gemma3,
  gemmaEmbedding,
  gemma3n,
  gemma4,
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
  glm4MoeLite,
  deepseek32,
  glmDsa,
  dots1,
  bailingMoe,
  bailingMoe2,
  dbrx,
  gptOss,
  miniMaxM2,
  afMoe,
  groveMoe,
  smallThinker,
  mellum,
  rnd1,
  dream,
  llada,
  lladaMoe,
  gpt2,
  gptNeoX,
  starcoder,
  starcoder2,
  codeShell,
  falcon,
  bloom,
  exaone,
  exaone4,
  exaoneMoe,
  ernie45,
  ernie45Moe,
  paddleOcr,
  chatGlm,
  glm4WithSections,
  glm4,
  glmOcr,
  glm4Moe,
  glm4vMoe,
  solarOpen,
  hunyuanDense,
  internLm2,
  internLm3,
  miniCpm,
  miniCpm3,
  plm,
  baichuan,
  orion,
  mpt,
  nemotron,
  stableLm,
  mamba,
  mamba2,
  jamba,
  ...graniteHybrids,
  bamba,
  falconH1,
  nemotronH,
  nemotronHMoe,
  lfm2,
  lfm2Moe,
  bert,
  distilBert,
  roberta,
  xlmRoberta,
  nomicBert,
  nomicBertMoe,
  jinaBert2,
  modernBert,
  euroBert,
  t5,
  t5Encoder,
]

/** The family whose models the configuration calls by this class. */
export function familyOfClass(name: string, config: Config = {}): Family | undefined {
  const known = families.filter(({ classes }) => classes.includes(name))
  return known.find(({ isMeant }) => isMeant?.(config)) ?? known.find(({ isMeant }) => !isMeant)
}
