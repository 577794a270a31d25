// The script of a former address: leads on with the anchor.
{
  const { to, anchors } = document.documentElement.dataset
  const anchor = location.hash.slice(1)
  location.replace(JSON.parse(anchors)[anchor] ?? to + location.hash)
}
