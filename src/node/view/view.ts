export { openBrowser, tunnelCommand } from './open-browser.js'
export { findPageFolder } from './page-folder.js'
export { ServedModels } from './served-models.js'
export { serveView } from './server.js'
