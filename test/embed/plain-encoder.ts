// A BERT encoder in double precision, written down formula by formula: what the graph is compared with.
import { readPayload, type Tensor } from '../../src/model/index.js'

export interface PlainRules {
  readonly heads: number
  readonly epsilon: number
  readonly gelu: (x: number) => number
  readonly masked: boolean
}

type Matrix = number[][]

export const tanhGelu = (t: number): number => 0.5 * t * (1 + Math.tanh(0.7978845608 * (t + 0.044715 * t ** 3)))
export const erfGelu = (t: number): number => 0.5 * t * (1 + erf(t / Math.SQRT2))

/** By its series, which is good for the small numbers that occur here. */
function erf(x: number): number {
  if (Math.abs(x) > 4) return Math.sign(x)
  let term = x
  let sum = x
  for (let n = 1; n < 120; n++) {
    term *= (-x * x) / n
    sum += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * sum
}

/** The mean of the last states over the positions that count. Linear weights are [in, out]. */
export async function plainEmbedding(
  tensors: readonly Tensor[],
  ids: readonly number[],
  counts: readonly boolean[],
  rules: PlainRules,
): Promise<number[]> {
  const values = new Map<string, { data: Float32Array; shape: readonly number[] }>()
  for (const { name, shape, data } of tensors)
    values.set(name, { data: new Float32Array((await readPayload(data!)).buffer), shape })
  const vector = (name: string): number[] => Array.from(values.get(name)!.data)
  const row = (name: string, i: number): number[] => {
    const { data, shape } = values.get(name)!
    return Array.from(data.subarray(i * shape[1]!, (i + 1) * shape[1]!))
  }
  const linear = (x: Matrix, stem: string): Matrix => {
    const { data, shape } = values.get(`${stem}.weight`)!
    const [inner, outer] = shape as [number, number]
    const bias = vector(`${stem}.bias`)
    return x.map((each) => bias.map((b, o) => sum(inner, (i) => each[i]! * data[i * outer + o]!) + b))
  }
  const norm = (x: Matrix, stem: string): Matrix => {
    const [gamma, beta] = [vector(`${stem}.weight`), vector(`${stem}.bias`)]
    return x.map((each) => {
      const mean = sum(each.length, (i) => each[i]!) / each.length
      const variance = sum(each.length, (i) => (each[i]! - mean) ** 2) / each.length
      return each.map((value, i) => (gamma[i]! * (value - mean)) / Math.sqrt(variance + rules.epsilon) + beta[i]!)
    })
  }
  const add = (a: Matrix, b: Matrix): Matrix => a.map((each, i) => each.map((value, j) => value + b[i]![j]!))

  const tables = ['word', 'position', 'token_type'].map((name) => `embeddings.${name}_embeddings.weight`)
  const type = row(tables[2]!, 0)
  let x = ids.map((id, position) => {
    const [word, place] = [row(tables[0]!, id), row(tables[1]!, position)]
    return word.map((value, i) => value + place[i]! + type[i]!)
  })
  x = norm(x, 'embeddings.LayerNorm')
  for (let layer = 0; values.has(`encoder.layer.${layer}.output.dense.bias`); layer++) {
    const stem = `encoder.layer.${layer}`
    const [q, k, v] = ['query', 'key', 'value'].map((name) => linear(x, `${stem}.attention.self.${name}`)) as [
      Matrix,
      Matrix,
      Matrix,
    ]
    const mixed = attention(q, k, v, counts, rules)
    x = norm(add(x, linear(mixed, `${stem}.attention.output.dense`)), `${stem}.attention.output.LayerNorm`)
    const active = linear(x, `${stem}.intermediate.dense`).map((each) => each.map(rules.gelu))
    x = norm(add(x, linear(active, `${stem}.output.dense`)), `${stem}.output.LayerNorm`)
  }
  const kept = x.filter((_, i) => counts[i])
  return x[0]!.map((_, i) => sum(kept.length, (j) => kept[j]![i]!) / kept.length)
}

function attention(q: Matrix, k: Matrix, v: Matrix, counts: readonly boolean[], { heads, masked }: PlainRules): Matrix {
  const width = q[0]!.length / heads
  return q.map((query) => {
    const mixed: number[] = []
    for (let first = 0; first < query.length; first += width) {
      const scores = k.map((key, j) =>
        masked && !counts[j]
          ? Number.NEGATIVE_INFINITY
          : sum(width, (i) => query[first + i]! * key[first + i]!) / Math.sqrt(width),
      )
      const highest = Math.max(...scores)
      const weights = scores.map((score) => Math.exp(score - highest))
      const total = sum(weights.length, (j) => weights[j]!)
      for (let i = 0; i < width; i++) mixed.push(sum(v.length, (j) => (weights[j]! / total) * v[j]![first + i]!))
    }
    return mixed
  })
}

function sum(count: number, term: (i: number) => number): number {
  let total = 0
  for (let i = 0; i < count; i++) total += term(i)
  return total
}
