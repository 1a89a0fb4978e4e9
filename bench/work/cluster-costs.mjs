// Measures what the simulation of clusters starts from: `FOLDER ROUNDS TASKS`.
import { jobCosts, partCosts, queueCosts } from '../cluster/costs.mjs'
import { conversions } from '../cluster/plan.mjs'
import { answer } from '../harness/measure.mjs'

const [folder, rounds, tasks] = process.argv.slice(2)
const parts = {}
for (const [name, options] of Object.entries(conversions)) parts[name] = await partCosts(options, Number(rounds))
answer({ parts, job: await jobCosts(folder, Number(tasks)), queue: await queueCosts(folder, Number(tasks)) })
