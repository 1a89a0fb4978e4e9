// The page as one file on disk: it makes no requests, and its workers are made of its own text.

export const isOffline = import.meta.env.MODE === 'offline'
