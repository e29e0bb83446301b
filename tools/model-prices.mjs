// Writes dist/bundled/model-prices: the built-in prices of inference models and the date of the package they come from.
// The package itself is for development alone.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const packageName = '@pydantic/genai-prices'
/** The day on which the installed version was published. It changes with the version in package.json. */
const versions = { '0.1.8': '2026-09-23' }

/** Do it. Throws when the installed version has no date here. */
export async function bundlePrices(root, dist) {
  const from = join(root, 'node_modules', packageName)
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  const date = versions[version]
  if (date === undefined) throw new Error(`tools/model-prices.mjs has no date of ${packageName} ${version}`)
  const module = join(from, 'dist', 'index.js')
  const { findProvider } = await import(pathToFileURL(module).href)
  const ids = [...readFileSync(module, 'utf8').matchAll(/^ {4}id: "([^"]+)"/gm)].map(match => match[1])
  const providers = ids.map(id => findProvider({ providerId: id })).filter(one => one !== undefined)
  const prices = providers.flatMap(provider => pricesOf(provider, date))
  const to = join(dist, 'bundled', 'model-prices')
  mkdirSync(to, { recursive: true })
  copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'))
  writeFileSync(join(to, 'prices.json'), JSON.stringify({ date, prices, names: namesOf(providers) }))
}

/** The further names of each provider's models, in the order in which they are looked through: the first that fits counts. */
function namesOf(providers) {
  const all = providers.map(({ id, models }) => [id, models.map(model => [model.id, model.match])])
  return Object.fromEntries(all)
}

function pricesOf(provider, date) {
  return provider.models.flatMap(({ id, prices }) =>
    datedOf(prices, date).flatMap(([since, price]) => row(provider.id, id, since, price)),
  )
}

/** Prices with their first day. A price that began before the data's date has its own day, others have the date. */
function datedOf(prices, date) {
  if (!Array.isArray(prices)) return [[date, prices]]
  // A price by the time of day cannot be told by one row.
  if (prices.some(({ constraint }) => constraint?.start_time !== undefined)) return []
  const dated = prices.filter(one => one.constraint?.start_date !== undefined)
  const known = dated.map(one => [one.constraint.start_date, one.prices])
  const plain = prices.find(one => one.constraint === undefined)
  return plain === undefined || known.some(([since]) => since <= date)
    ? known
    : [[date, plain.prices], ...known]
}

/** No row for prices by tier: one price would charge a long request too little. */
function row(provider, model, since, price) {
  const named = [
    price.input_mtok,
    price.output_mtok,
    price.cache_read_mtok,
    price.cache_write_mtok,
    price.output_reasoning_mtok,
    price.requests_kcount,
  ]
  if (named.some(one => typeof one === 'object') || (price.input_mtok ?? price.output_mtok) === undefined)
    return []
  const [input = 0, output = 0, cachedInput, cacheWrite, reasoning, thousand] = named
  return [
    {
      provider,
      model,
      since,
      input: decimal(input),
      output: decimal(output),
      cachedInput: decimal(cachedInput),
      cacheWrite: decimal(cacheWrite),
      reasoning: decimal(reasoning),
      perRequest: decimal(thousand === undefined ? undefined : thousand / 1_000),
    },
  ]
}

/** Decimal text with at most twelve digits after the point. */
function decimal(number) {
  return number === undefined ? null : number.toFixed(12).replace(/\.?0+$/, '')
}
