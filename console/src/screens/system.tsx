// The service itself: stores and how far they are behind, the journal, shards, fronts, nodes and quotas.
import { useQuery } from '@tanstack/react-query'
import { api } from '../app/api.js'
import { count, figure, secondOf, shortFigure, timeOf, words } from '../app/format.js'
import { useHere } from '../app/place.js'
import { useWho } from '../app/session.js'
import { Badge, Card, Code, Empty, Loaded, Page, Stat, troubleOf } from '../ui/basics.js'
import { Cell, Row, Table } from '../ui/table.js'

const bytes = (n: number): string =>
  n < 1_048_576
    ? `${shortFigure(Math.ceil(n / 1_024))} kB`
    : `${shortFigure(Math.round(n / 104_857.6) / 10)} MB`

const storeNames: Readonly<Record<string, string>> = {
  clickhouse: 'ClickHouse',
  postgres: 'Postgres',
  redis: 'Redis',
}

/** "3 d 4 h", "12 min". */
function spanWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${figure(days)} d ${hours % 24} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

export default function System() {
  const { may } = useHere()
  const { environments } = useWho()
  const system = useQuery({
    queryKey: ['system'],
    enabled: may.admin,
    queryFn: () => api.get('/system'),
    refetchInterval: 3_000,
  })
  const limits = useQuery({ queryKey: ['limits'], enabled: may.admin, queryFn: () => api.get('/limits') })
  if (!may.admin)
    return (
      <Page title="System">
        <Empty title="For admins">The state of the service is shown to people with the role admin.</Empty>
      </Page>
    )
  // The last answer stays on the page while the service does not answer. The present state is not known then.
  const isKnown = troubleOf(system) === null
  const answers = (yes: boolean) =>
    isKnown ? <Badge tone={yes ? 'ok' : 'danger'}>{yes ? 'yes' : 'no'}</Badge> : <Badge>not known</Badge>
  const nameOf = (id: string) => environments.find(one => one.id === id)?.name ?? id
  return (
    <Page title="System">
      <Loaded of={system}>
        {now => (
          <>
            <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
              <Stat
                label="Status"
                value={
                  isKnown ? (
                    <Badge tone={now.status === 'ready' ? 'ok' : 'warn'}>{now.status}</Badge>
                  ) : (
                    <Badge tone="danger">not known</Badge>
                  )
                }
                note={isKnown ? now.degraded.join(', ') || undefined : `figures of ${secondOf(now.now)}`}
              />
              <Stat label="Version" value={now.version} note={timeOf(now.now)} />
              <Stat label="Up" value={spanWords(now.uptime_seconds)} />
              <Stat
                label="Idempotency keys"
                value={shortFigure(now.idempotency_keys)}
                note="of the last 24 hours"
              />
            </div>
            <div className="mt-4 grid gap-4 lg:grid-cols-2">
              <Card title="Stores">
                <Table label="Stores" head={['Store', 'Answers', 'Records behind', 'Seconds behind']}>
                  {now.stores.map(one => (
                    <Row key={one.name}>
                      <Cell>{storeNames[one.name] ?? one.name}</Cell>
                      <Cell>{answers(one.answers)}</Cell>
                      <Cell className="tabular-nums">{figure(one.lag_records)}</Cell>
                      <Cell className="tabular-nums">{one.lag_seconds}</Cell>
                    </Row>
                  ))}
                </Table>
              </Card>
              <Card title="Shards of this node">
                <Table label="Shards" head={['Shard', 'In memory', 'Heap', 'Waiting', 'Journal']}>
                  {now.shards.map(one => (
                    <Row key={one.shard}>
                      <Cell>{one.shard}</Cell>
                      <Cell className="tabular-nums">{figure(one.entities)}</Cell>
                      <Cell className="tabular-nums">{bytes(one.heap_bytes)}</Cell>
                      <Cell className="tabular-nums">{figure(one.waiting)}</Cell>
                      <Cell className="tabular-nums">
                        {bytes(now.journal.find(({ shard }) => shard === one.shard)?.bytes ?? 0)}
                      </Cell>
                    </Row>
                  ))}
                </Table>
              </Card>
              <Card title="Nodes">
                <Table label="Nodes" head={['Node', 'Shards']}>
                  {now.nodes.map(one => (
                    <Row key={one.node}>
                      <Cell>
                        {one.node} {one.this_node && now.nodes.length > 1 && <Badge>this one</Badge>}
                      </Cell>
                      <Cell className="tabular-nums">{figure(one.shards)}</Cell>
                    </Row>
                  ))}
                </Table>
              </Card>
              <Card title="Fronts of this node">
                <Table label="Fronts" head={['Front', 'Answers']}>
                  {now.fronts.map(one => (
                    <Row key={one.front}>
                      <Cell>{one.front === 0 ? 'main thread' : `front ${one.front}`}</Cell>
                      <Cell>{answers(one.answers)}</Cell>
                    </Row>
                  ))}
                </Table>
                <p className="mt-2 text-xs text-muted">
                  {count(now.stream_connections, 'connection')} of the data stream
                </p>
              </Card>
              <Card title="Quotas">
                {now.quotas.length === 0 ? (
                  <Empty title="No quota is set" />
                ) : (
                  <Table label="Quotas" head={['Environment', 'Quota', 'Used']}>
                    {now.quotas.map(one => (
                      <Row key={`${one.environment_id} ${one.quota}`}>
                        <Cell>{nameOf(one.environment_id)}</Cell>
                        <Cell>{words(one.quota)}</Cell>
                        <Cell className="tabular-nums">{one.used_percent} %</Cell>
                      </Row>
                    ))}
                  </Table>
                )}
              </Card>
              <Card title="Request limits">
                <Loaded of={limits}>
                  {({ limits: set }) => (
                    <p>
                      {set === null ? (
                        'As the operator’s setting says'
                      ) : set === 'off' ? (
                        'Off for this account'
                      ) : (
                        <Code>{JSON.stringify(set)}</Code>
                      )}
                    </p>
                  )}
                </Loaded>
              </Card>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}
