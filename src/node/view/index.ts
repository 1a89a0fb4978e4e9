// What serves the page is loaded when it is called for: Node takes longer to load an HTTP server than most verbs take in all.
export type { ServedModels } from './served-models.js'
export type { ViewServer } from './server.js'

export const loadView = () => import('./view.js')
