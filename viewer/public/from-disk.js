// Browsers load no modules from disk: there the page is the one file beside this one.
if (location.protocol === 'file:') location.replace(`offline.html${location.hash}`)
