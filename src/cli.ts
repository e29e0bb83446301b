// The command line: commands, options and help texts.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { CatalogPublish } from '../schemas/catalog.js'
import { auditHead, auditVerify } from './cli/audit.js'
import { applyCatalog, diffCatalog, exportCatalog } from './cli/catalog.js'
import { Client, targetOf } from './cli/client.js'
import { doctor, node } from './cli/doctor.js'
import { exportFile, reconcile } from './cli/export.js'
import { importHelp } from './cli/import/help.js'
import { importFile, kinds } from './cli/import.js'
import { type Exit, exit, Failure, type Io, inert } from './cli/io.js'
import { createKey, getLimits, listKeys, revokeKey, rollKey, setLimits, showPublishable } from './cli/keys.js'
import { readConfig, refuseArguments } from './config.js'
import { inOneLine } from './host/failure.js'
import { version } from './host/version.js'
import { createLogger } from './log.js'

const env = process.env

const io: Io = {
  print: line => void process.stdout.write(`${inert(line)}\n`),
  note: line => void process.stderr.write(`${inert(line)}\n`),
  bar: process.stderr.isTTY ? process.stderr : null,
}

interface Reach {
  readonly url?: string
  readonly key?: string
  readonly keyFile?: string
  readonly environment?: string
}

async function clientOf(reach: Reach): Promise<Client> {
  if (process.argv.some(one => one === '--key' || one.startsWith('--key=')))
    io.note('A key in the arguments is seen by everybody on this machine: use TOLLGATE_KEY or --key-file')
  return new Client(await targetOf(reach, readConfig(env)))
}

/** Adds the options of commands that use a running Tollgate. */
const reaching = (command: Command): Command =>
  command
    .addOption(
      new Option('--url <url>', 'where Tollgate is').env('TOLLGATE_URL').default('http://127.0.0.1:8080'),
    )
    .addOption(
      new Option('--key <key>', 'an API key; better TOLLGATE_KEY, as others see arguments').env(
        'TOLLGATE_KEY',
      ),
    )
    .addOption(
      new Option(
        '--key-file <file>',
        'a file that holds it; without either the first key of the data directory, to this machine alone',
      ).env('TOLLGATE_KEY_FILE'),
    )
    .option('--environment <id>', 'the environment, for an account-wide key')

let code: Exit = exit.done
/** Wraps an action so that its result becomes the exit code. */
const ends =
  <Arguments extends unknown[]>(action: (...given: Arguments) => Promise<Exit>) =>
  async (...given: Arguments): Promise<void> => {
    code = await action(...given)
  }

const count =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`)
  }

const program = new Command('tollgate')
  .description('Entitlements, feature flags, usage metering and credits.')
  .showHelpAfterError('(--help says more)')
  .version(version(), '-v, --version', 'print the version')
  .exitOverride()
  .addHelpText(
    'after',
    `
Exit codes: 0 done; 1 it could not be done; 2 wrong arguments; 3 done, and there is something to look at
(rejected lines, differences, a broken precondition).

Settings of the server are environment variables, e.g. TOLLGATE_PORT, TOLLGATE_DATA_DIR, DATABASE_URL: see the README.

A first look:
  tollgate doctor                     is everything there that it needs?
  tollgate start                      serve, with everything embedded unless named
  tollgate import customers.csv --mapping customers.yaml --dry-run
                                      what customers it would bring`,
  )

program
  .command('start')
  .description('serve until SIGTERM or SIGINT')
  // refused below, with the setting that is meant
  .allowUnknownOption()
  .allowExcessArguments()
  // main.js runs as its own program until it is stopped
  .action(async (_, { args }: Command) => {
    onOurNode()
    try {
      refuseArguments(args)
    } catch (error) {
      io.note((error as Error).message)
      process.exit(exit.misused)
    }
    await import(new URL('./main.js', import.meta.url).href)
  })

program
  .command('migrate')
  .description('bring the stores to this version and stop; a start does the same by itself')
  .action(
    ends(async () => {
      onOurNode()
      // loaded only now, because it loads what doctor checks
      const { migrateStores } = await import('./start.js')
      const config = readConfig(env)
      const applied = await migrateStores(config, createLogger(config, 2))
      for (const file of applied) io.print(file)
      io.note(applied.length === 0 ? 'nothing to do' : `${applied.length} files applied`)
      return exit.done
    }),
  )

reaching(program.command('import <file>'))
  .description(
    'bring companies, users, subscriptions, overrides, grants or past events from CSV or NDJSON (.gz too)',
  )
  .option('--mapping <file>', 'YAML or JSON: which member comes from which column')
  .addOption(
    new Option('--kind <kind>', 'what the file has, where no mapping says it').choices(
      kinds.map(({ name }) => name),
    ),
  )
  .addOption(
    new Option('--format <format>', 'of the file; without it as its name ends').choices(['csv', 'ndjson']),
  )
  .option('--dry-run', 'say what would be made and changed, and write nothing')
  .option('--rejects <file>', 'where records go that are not taken (default: FILE.rejects)')
  .option('--batch <records>', 'records of one step (default: 2000 events, else 200)', count(1, 10_000))
  .option(
    '--parallel <requests>',
    'requests at once (default: 8; 1 for events, which more than 1 may reorder)',
    count(1, 16),
  )
  .option(
    '--as-given',
    'do not add "backfill" and "trusted_client_clock" to events that do not say how their time counts',
  )
  .option('--again', 'count events once more that were imported more than a day ago')
  .addHelpText('after', importHelp)
  .action(
    ends(async (file: string, options: ImportGiven) =>
      importFile(
        await clientOf(options),
        {
          file,
          mapping: options.mapping ?? null,
          kind: options.kind ?? null,
          format: options.format ?? null,
          rejects: options.rejects ?? null,
          batch: options.batch ?? null,
          parallel: options.parallel ?? null,
          backfill: options.asGiven !== true,
          dryRun: options.dryRun === true,
          again: options.again === true,
        },
        io,
      ),
    ),
  )

interface ImportGiven extends Reach {
  readonly mapping?: string
  readonly kind?: string
  readonly format?: 'csv' | 'ndjson'
  readonly dryRun?: boolean
  readonly rejects?: string
  readonly batch?: number
  readonly parallel?: number
  readonly asGiven?: boolean
  readonly again?: boolean
}

reaching(program.command('export'))
  .description('write events, usage per hour, or the credit ledger into a file')
  .argument('<what>', 'events, usage or ledger', oneOf('events', 'usage', 'ledger'))
  .requiredOption('--out <file>', 'the file; it has this name only when it is whole')
  .addOption(new Option('--format <format>').choices(['csv', 'ndjson', 'parquet']).default('csv'))
  .option('--from <time>', 'from this time on, e.g. 2026-03-01T00:00:00Z')
  .option('--to <time>', 'before this time')
  .option('--company <id>', 'of one company, comp_…')
  .option(
    '--raw',
    'CSV cells as they are: without it those that a spreadsheet would execute begin with a quote',
  )
  .addHelpText(
    'after',
    '\nA Parquet file holds at most 2 000 000 rows: narrow larger ones with --from and --to.',
  )
  .action(
    ends(async (what: string, options: ExportGiven) =>
      exportFile(await clientOf(options), { ...options, what }, io),
    ),
  )

interface ExportGiven extends Reach {
  readonly out: string
  readonly format: string
  readonly from?: string
  readonly to?: string
  readonly company?: string
  readonly raw?: boolean
}

reaching(program.command('reconcile'))
  .description('compare what is counted in memory with what ClickHouse holds; exits 3 when something differs')
  .option('--company <id>', 'one company, comp_…')
  .action(
    ends(async (options: Reach & { readonly company?: string }) =>
      reconcile(await clientOf(options), options.company, io),
    ),
  )

interface CreateGiven extends Reach {
  readonly in?: string
  readonly readonly?: boolean
  readonly publishable?: boolean
}

const catalog = program
  .command('catalog')
  .description('features, flags, plans, credits and prices of an environment as one file')
interface CatalogGiven extends Reach {
  readonly prune?: boolean
  readonly publish?: CatalogPublish
}
const applying = (command: Command): Command =>
  reaching(command)
    .option('--prune', 'also remove what the file does not have')
    .addOption(
      new Option(
        '--publish <strategy>',
        'publish changed plans, and move their companies like this; without it changes wait in drafts',
      ).choices(['leave', 'immediate', 'end_of_billing_period']),
    )
const catalogOptions = ({ prune, publish }: CatalogGiven) => ({
  prune: prune === true,
  publish: publish ?? null,
})
reaching(catalog.command('export [file]'))
  .description('write the file, YAML or JSON by its name; to the terminal without one')
  .addOption(new Option('--format <format>').choices(['yaml', 'json']))
  .action(
    ends(async (file: string | undefined, options: Reach & { readonly format?: 'json' | 'yaml' }) =>
      exportCatalog(await clientOf(options), { file: file ?? null, format: options.format ?? null }, io),
    ),
  )
applying(catalog.command('diff <file>'))
  .description(
    'what applying the file would make, change and archive, and who feels it; exits 3 when anything differs',
  )
  .action(
    ends(async (file: string, options: CatalogGiven) =>
      diffCatalog(await clientOf(options), file, catalogOptions(options), io),
    ),
  )
applying(catalog.command('apply <file>'))
  .description('bring the environment to the file: drafts first, each plan in one transaction')
  .action(
    ends(async (file: string, options: CatalogGiven) =>
      applyCatalog(await clientOf(options), file, catalogOptions(options), io),
    ),
  )
catalog
  .command('schema')
  .description('the JSON schema of the file, for editors')
  .action(
    ends(async () => {
      const { catalogJsonSchema } = await import('./serve/openapi/catalog-schema.js')
      io.print(JSON.stringify(catalogJsonSchema(), null, 2))
      return exit.done
    }),
  )

const keys = program.command('keys').description('API keys')
reaching(keys.command('list'))
  .description('id, environment, scopes, last use, name, and the value of publishable keys')
  .action(ends(async (options: Reach) => listKeys(await clientOf(options), io)))
reaching(keys.command('create [name]'))
  .description('make a secret key; its value is all that goes to stdout')
  .option('--in <environment>', 'of this environment; account-wide without it')
  .option('--readonly', 'it may read and check, nothing else')
  .option(
    '--publishable',
    'print the publishable key of the environment, for pages: each environment is made with one, and has one',
  )
  .action(
    ends(async (name: string | undefined, options: CreateGiven) => {
      const environment = options.in
      if (options.publishable === true) return showPublishable(await clientOf(options), environment, io)
      if (name === undefined)
        throw new Failure('keys create: name the key, as in `tollgate keys create backend`')
      return createKey(
        await clientOf(options),
        { name, ...(environment === undefined ? {} : { environment }), readonly: options.readonly === true },
        io,
      )
    }),
  )
reaching(keys.command('roll <id>'))
  .description('give a key a new value, which is all that goes to stdout')
  .option('--overlap <seconds>', 'how long the present value is still accepted', count(0, 2_592_000), 0)
  .action(
    ends(async (id: string, options: Reach & { readonly overlap: number }) =>
      rollKey(await clientOf(options), id, options.overlap, io),
    ),
  )
reaching(keys.command('revoke <id>'))
  .description('from now on nobody is let in by it')
  .action(ends(async (id: string, options: Reach) => revokeKey(await clientOf(options), id, io)))

reaching(program.command('mcp'))
  .description(
    'serve the Model Context Protocol on stdin and stdout, for assistants, with the rights of the key',
  )
  .option('--write', 'also tools that change something; without it there are none')
  .addHelpText(
    'after',
    `
An assistant starts it itself, e.g. with the configuration
  {"mcpServers": {"tollgate": {"command": "npx", "args": ["tollgate", "mcp"],
    "env": {"TOLLGATE_URL": "http://127.0.0.1:8080", "TOLLGATE_KEY": "sk_…"}}}}
Give it a read-only key (tollgate keys create assistant --readonly).`,
  )
  .action(
    ends(async ({ write, ...reach }: Reach & { readonly write?: boolean }) => {
      const target = await targetOf(reach, readConfig(env))
      // a bundle of its own, with all that it needs inside: no other command loads it
      const { serveMcp } = (await import(
        new URL('./cli/mcp.js', import.meta.url).href
      )) as typeof import('./cli/mcp.js')
      await serveMcp(target, write === true, version(), io.note)
      return exit.done
    }),
  )

const limits = program.command('limits').description("request limits of the key's account")
reaching(limits.command('get'))
  .description('what differs from the common limits')
  .action(ends(async (options: Reach) => getLimits(await clientOf(options), io)))
reaching(limits.command('set <limits>'))
  .description(
    'default, off, or {"global":[rate per second, burst], "mutation":…, "events_ingest":…, "analytics":…}',
  )
  .action(ends(async (value: string, options: Reach) => setLimits(await clientOf(options), value, io)))

reaching(program.command('console'))
  .description('make a link that signs in to the console; good once, for 15 minutes')
  .action(
    ends(async (options: Reach) => {
      const client = await clientOf(options)
      const { token } = await client.ask<{ token: string }>('POST', '/console-links', {})
      io.print(
        `${(options.url ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')}/console/#/sign-in?token=${token}`,
      )
      return exit.done
    }),
  )

const audit = program.command('audit').description('the audit log as evidence')
reaching(audit.command('head'))
  .description('the end of its chain of hashes, to be kept elsewhere')
  .action(ends(async (options: Reach) => auditHead(await clientOf(options), io)))
reaching(audit.command('verify'))
  .description('find the first row that was altered, removed or put in; exits 3 when there is one')
  .option(
    '--head <head>',
    'as `tollgate audit head` printed it earlier: what it tells of must still be there',
  )
  .action(
    ends(async (options: Reach & { readonly head?: string }) =>
      auditVerify(await clientOf(options), options.head, io),
    ),
  )

program
  .command('backup <directory>')
  .description('everything acknowledged until now, from a Tollgate that runs and goes on running')
  .addHelpText(
    'after',
    `
Run it where Tollgate runs, as the same user and with its TOLLGATE_DATA_DIR. Both stores, embedded or your own, the
journals, and the secrets of the data directory go into <directory>, which is empty or not there yet. Nothing else is
needed to restore it but TOLLGATE_PEPPER and TOLLGATE_BACKUP_KEY, or the file backup-key of the data directory where
neither is set: it seals the backup and is not in it. Keep the backup like a secret, and that file elsewhere.`,
  )
  .action(
    ends(async (directory: string) => {
      const { backup } = await import('./cli/backup.js')
      return backup(readConfig(env), directory, io)
    }),
  )

program
  .command('restore <directory>')
  .description('a backup into an empty TOLLGATE_DATA_DIR; then start')
  .addHelpText(
    'after',
    `
Into the embedded stores, or into those that DATABASE_URL and CLICKHOUSE_URL name, which must be empty: whichever the
backup was taken of. A backup of an older Tollgate is brought to this version by the next start.

What is in a backup is believed when TOLLGATE_BACKUP_KEY, else TOLLGATE_PEPPER, is what it was when the backup was
taken, or when --fingerprint names it. On a fresh machine set the same one. Where neither was ever set, it is in the file
backup-key of the former data directory: name it with TOLLGATE_BACKUP_KEY_FILE, or put it into the new directory.`,
  )
  .option('--fingerprint <sha256>', 'take the backup of this fingerprint, as `tollgate backup` printed it')
  .option('--unsealed', 'take a backup that nothing vouches for: it has no seal, or its secret is lost')
  .action(
    ends(async (directory: string, given: { readonly fingerprint?: string; readonly unsealed?: boolean }) => {
      const { restore } = await import('./cli/restore.js')
      const trust = { fingerprint: given.fingerprint, unsealed: given.unsealed === true }
      return restore(readConfig(env), directory, trust, io)
    }),
  )

const cluster = program
  .command('cluster')
  .description('nodes and shards of several nodes: owners, epochs, what waits for a store, what moves')
  .option('--json', 'as one line of JSON')
  .addHelpText(
    'after',
    `
Run it with the settings of a node: REDIS_URL, DATABASE_URL, CLICKHOUSE_URL, TOLLGATE_PEPPER, TOLLGATE_CLUSTER_SECRET. It
exits 3 when a shard is nobody's or a node does not answer.`,
  )
  .action(
    ends(async ({ json }: { readonly json?: boolean }) => {
      const { showCluster } = await import('./cli/cluster.js')
      return showCluster(readConfig(env), json === true, io)
    }),
  )
cluster
  .command('drain <node>')
  .description(
    'have a node give all its shards to others, and wait until it has none; then it can be stopped',
  )
  .option('--timeout <seconds>', 'how long it is waited for', count(1, 3_600), 60)
  .action(
    ends(async (name: string, { timeout }: { readonly timeout: number }) => {
      const { drainNode } = await import('./cli/cluster.js')
      return drainNode(readConfig(env), name, timeout * 1_000, io)
    }),
  )

program
  .command('doctor')
  .description('look at everything a start needs, and say what to do about what is broken')
  .action(ends(async () => doctor(env, io)))

/** Checks the version of Node before modules are loaded that need it. */
function onOurNode(): void {
  const { what, advice } = node(process.versions.node)
  if (advice !== null) throw new Failure(`${what}: ${advice}`)
}

function oneOf(...words: readonly string[]) {
  return (text: string): string => {
    if (words.includes(text)) return text
    throw new InvalidArgumentError(`expected ${words.join(', ')}`)
  }
}

try {
  await program.parseAsync()
  process.exitCode = code
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exit.done : exit.misused
  else {
    io.note(inOneLine(error))
    process.exitCode = exit.failed
  }
}
