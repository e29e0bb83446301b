// Keys of servers, and members of the console with their roles.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, base, type Schemas } from '../app/api.js'
import { ago, dayOf, words } from '../app/format.js'
import { useHere } from '../app/place.js'
import { useWho } from '../app/session.js'
import { useAct } from '../ui/act.js'
import { Badge, Button, Card, Code, Empty, Loaded, Page } from '../ui/basics.js'
import { asNew, FormDialog } from '../ui/form.js'
import { type Once, ShownOnce } from '../ui/once.js'
import { Cell, Row, Table } from '../ui/table.js'

type Key = Schemas['ApiKey']
type Member = Schemas['AccountMember']
export default function KeysAndMembers() {
  const { may } = useHere()
  const [once, setOnce] = useState<Once | null>(null)
  if (!may.admin)
    return (
      <Page title="Keys and members">
        <Empty title="For admins">Keys and members are shown to people with the role admin.</Empty>
      </Page>
    )
  return (
    <Page title="Keys and members">
      <div className="grid gap-4">
        <Keys onMade={setOnce} />
        <Members onMade={setOnce} />
      </div>
      {once && <ShownOnce once={once} onClose={() => setOnce(null)} />}
    </Page>
  )
}

function Keys({ onMade }: { readonly onMade: (once: Once) => void }) {
  const { environment, production } = useHere()
  const act = useAct()
  const [adding, setAdding] = useState(false)
  const [rolling, setRolling] = useState<Key | null>(null)
  const keys = useQuery({
    queryKey: ['keys', environment.id],
    queryFn: () =>
      api.get('/api-keys', { query: { environment_id: environment.id, require_environment: true } as never }),
  })
  const add = (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add key
    </Button>
  )
  const disable = (key: Key) => {
    const put = (disabled: boolean) =>
      api.put('/api-keys/{api_key_id}', { path: { api_key_id: key.id }, body: { disabled } })
    void act({
      title: `${key.disabled ? 'Enable' : 'Disable'} ${key.name}`,
      verb: key.disabled ? 'Enable' : 'Disable',
      danger: !key.disabled,
      differences: [
        {
          what: key.name,
          before: key.disabled ? 'refused' : 'accepted',
          after: key.disabled ? 'accepted' : 'refused',
        },
      ],
      ...(production && { typed: key.name }),
      run: () => put(!key.disabled),
      done: `${key.name} is ${key.disabled ? 'enabled' : 'disabled'}`,
      undo: () => put(key.disabled),
    })
  }
  const remove = (key: Key) =>
    void act({
      title: `Delete ${key.name}`,
      verb: 'Delete',
      danger: true,
      differences: [{ what: key.name, before: `used ${ago(key.last_used_at)}`, after: 'deleted' }],
      note: 'What uses this key is refused at once, and it cannot be brought back. Disable it first to see whether anything does.',
      ...(production && { typed: key.name }),
      run: () => api.del('/api-keys/{api_key_id}', { path: { api_key_id: key.id } }),
      done: `${key.name} was deleted`,
    })
  return (
    <Card title={`Keys of ${environment.name}`} aside={add}>
      <Loaded of={keys}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No key" action={add} />
          ) : (
            <Table label="Keys" head={['Key', 'Scopes', 'Value', 'Used', 'Ends', '']}>
              {rows.map(key => (
                <Row key={key.id}>
                  <Cell>
                    {key.name} {key.disabled && <Badge tone="danger">disabled</Badge>}
                    {key.readonly && <Badge>read-only</Badge>}
                    <div className="text-xs text-muted">{key.description}</div>
                  </Cell>
                  <Cell className="text-muted">{key.scopes.join(', ')}</Cell>
                  <Cell>
                    <Code>{key.secret ?? (key.last_four ? `…${key.last_four}` : 'hidden')}</Code>
                  </Cell>
                  <Cell className="whitespace-nowrap text-muted">{ago(key.last_used_at)}</Cell>
                  <Cell className="whitespace-nowrap text-muted">{dayOf(key.expires_at)}</Cell>
                  <Cell className="text-right whitespace-nowrap">
                    <Button
                      look="quiet"
                      aria-label={`New value of ${key.name}`}
                      onClick={() => setRolling(key)}
                    >
                      New value
                    </Button>
                    {!key.secret && (
                      <>
                        <Button
                          look="quiet"
                          aria-label={`${key.disabled ? 'Enable' : 'Disable'} ${key.name}`}
                          onClick={() => disable(key)}
                        >
                          {key.disabled ? 'Enable' : 'Disable'}
                        </Button>
                        <Button look="quiet" aria-label={`Delete ${key.name}`} onClick={() => remove(key)}>
                          Delete
                        </Button>
                      </>
                    )}
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
      {adding && (
        <FormDialog
          title="Add key"
          onClose={() => setAdding(false)}
          fields={[
            { name: 'name', label: 'Name', hint: 'The server that will use it.' },
            {
              name: 'rights',
              label: 'May',
              kind: 'choice',
              options: [
                ['usual', 'check, read, write and send events'],
                ['readonly', 'only check and read'],
              ],
            },
          ]}
          act={({ name = '', rights }) => {
            let made = ''
            return {
              title: `Add the key ${name}`,
              verb: 'Add',
              differences: asNew([
                ['Key', name],
                ['Environment', environment.name],
                ['May', rights === 'readonly' ? 'read' : 'read, write, send events'],
              ]),
              run: async () => {
                const key = await api.post('/api-keys', {
                  body: {
                    name,
                    environment_id: environment.id,
                    ...(rights === 'readonly' && { readonly: true }),
                  } as never,
                })
                made = key.id
                onMade({
                  title: `Value of ${name}`,
                  note: 'It is shown only now. Put it where your server reads its secrets.',
                  value: key.secret ?? '',
                })
              },
              done: `${name} was added`,
              undo: () => api.del('/api-keys/{api_key_id}', { path: { api_key_id: made } }),
            }
          }}
        />
      )}
      {rolling && (
        <FormDialog
          title={`New value of ${rolling.name}`}
          onClose={() => setRolling(null)}
          fields={[
            {
              name: 'overlap',
              label: 'The present value is accepted',
              kind: 'choice',
              options: overlaps,
              initial: '86400',
              hint: 'Until all your servers have the new one.',
            },
          ]}
          act={({ overlap = '0' }) => ({
            title: `New value of ${rolling.name}`,
            verb: 'Make value',
            danger: true,
            differences: [
              {
                what: 'The present value',
                before: 'accepted',
                after: overlaps.find(([seconds]) => seconds === overlap)![1],
              },
            ],
            ...(production && { typed: rolling.name }),
            run: async () => {
              const key = await api.post('/api-keys/{api_key_id}/roll', {
                path: { api_key_id: rolling.id },
                body: { overlap_seconds: Number(overlap) },
              })
              onMade({
                title: `Value of ${rolling.name}`,
                note: rolling.secret
                  ? 'Put it where your pages read it.'
                  : 'It is shown only now. Put it where your server reads its secrets.',
                value: key.secret ?? '',
              })
            },
            done: `${rolling.name} has a new value`,
          })}
        />
      )}
    </Card>
  )
}

/** How long the value before a new one is accepted, in seconds and words. */
const overlaps = [
  ['0', 'no longer'],
  ['3600', 'for an hour'],
  ['86400', 'for a day'],
  ['604800', 'for 7 days'],
] as const

const roles = [
  ['viewer', 'Viewer: sees everything but keys'],
  ['support', 'Support: overrides and grants, too'],
  ['editor', 'Editor: changes everything but keys'],
  ['admin', 'Admin: everything'],
] as const

const rolesInWords = (member: Member, names: ReadonlyMap<string, string>): string =>
  Object.entries(member.console_roles)
    .map(([where, role]) =>
      where === '*' ? `${role} everywhere` : `${role} in ${names.get(where) ?? where}`,
    )
    .join(', ')

const linkOf = (link: Schemas['SignInLink']): string => new URL(`#/sign-in?token=${link.token}`, base).href

function Members({ onMade }: { readonly onMade: (once: Once) => void }) {
  const { environments, account_member: self } = useWho()
  const act = useAct()
  const queries = useQueryClient()
  const [open, setOpen] = useState<Member | 'new' | null>(null)
  const members = useQuery({
    queryKey: ['members'],
    queryFn: () => api.get('/account-members', { query: { limit: 250 } }),
  })
  const names = new Map(environments.map(one => [one.id, one.name]))
  const invite = (
    <Button look="primary" onClick={() => setOpen('new')}>
      Invite
    </Button>
  )
  const roleFields = (present: Member | null) => [
    {
      name: '*',
      label: 'Role everywhere',
      kind: 'choice' as const,
      options: [['', 'None'], ...roles] as const,
      initial: present?.console_roles['*'] ?? (present ? '' : 'viewer'),
      optional: true,
    },
    ...environments.map(one => ({
      name: one.id,
      label: `Role in ${one.name}`,
      kind: 'choice' as const,
      options: [['', 'The same'], ...roles] as const,
      initial: present?.console_roles[one.id] ?? '',
      optional: true,
    })),
  ]
  const rolesOf = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      ['*', ...environments.map(one => one.id)].flatMap(where =>
        values[where] ? [[where, values[where]]] : [],
      ),
    )
  return (
    <Card title="Members" aside={invite}>
      <Loaded of={members}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No member yet" action={invite}>
              Members sign in with a link that you give them, or with your organisation’s sign-on.
            </Empty>
          ) : (
            <Table label="Members" head={['Member', 'Role', 'From', 'Signed in', '']}>
              {rows.map(member => {
                const name = member.name ?? member.email ?? member.id
                return (
                  <Row key={member.id}>
                    <Cell>
                      {name} {member.disabled && <Badge tone="danger">disabled</Badge>}
                      <div className="text-xs text-muted">{member.email}</div>
                    </Cell>
                    <Cell>{rolesInWords(member, names)}</Cell>
                    <Cell className="text-muted">{words(member.source)}</Cell>
                    <Cell className="whitespace-nowrap text-muted">{ago(member.signed_in_at)}</Cell>
                    <Cell className="text-right whitespace-nowrap">
                      <Button
                        look="quiet"
                        aria-label={`Link for ${name}`}
                        onClick={() =>
                          void act({
                            title: `A sign-in link for ${name}`,
                            verb: 'Make link',
                            differences: [],
                            note: 'It signs in whoever opens it first, once, within seven days.',
                            run: async () => {
                              const link = await api.post(
                                '/account-members/{account_member_id}/sign-in-link',
                                {
                                  path: { account_member_id: member.id },
                                },
                              )
                              onMade({
                                title: `Link for ${name}`,
                                note: 'It works once. Give it to this person alone.',
                                value: linkOf(link),
                              })
                            },
                            done: 'The link is made',
                          })
                        }
                      >
                        Link
                      </Button>
                      {member.id !== self?.id && (
                        <Button look="quiet" aria-label={`Change ${name}`} onClick={() => setOpen(member)}>
                          Change
                        </Button>
                      )}
                    </Cell>
                  </Row>
                )
              })}
            </Table>
          )
        }
      </Loaded>
      {open === 'new' && (
        <FormDialog
          title="Invite a member"
          onClose={() => setOpen(null)}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'email', label: 'E-mail address', kind: 'email', optional: true },
            ...roleFields(null),
          ]}
          act={values => {
            const { name = '', email } = values
            let made = ''
            return {
              title: `Invite ${name}`,
              verb: 'Invite',
              differences: asNew([
                ['Member', name],
                [
                  'Roles',
                  Object.entries(rolesOf(values))
                    .map(
                      ([where, role]) =>
                        `${role} in ${where === '*' ? 'every environment' : names.get(where)}`,
                    )
                    .join(', '),
                ],
              ]),
              run: async () => {
                const member = await api.post('/account-members', {
                  body: { name, email: email || null, console_roles: rolesOf(values) as never },
                })
                made = member.id
                onMade({
                  title: `Invitation of ${name}`,
                  note: 'The link works once, within seven days. Give it to this person alone.',
                  value: linkOf(member.invitation),
                })
              },
              done: `${name} is invited`,
              undo: () =>
                api.del('/account-members/{account_member_id}', { path: { account_member_id: made } }),
            }
          }}
        />
      )}
      {open !== null && open !== 'new' && (
        <FormDialog
          title={`Change ${open.name ?? open.id}`}
          onClose={() => setOpen(null)}
          fields={[
            ...roleFields(open),
            {
              name: 'disabled',
              label: 'May sign in',
              kind: 'choice',
              options: [
                ['no', 'Yes'],
                ['yes', 'No: sessions end at once'],
              ],
              initial: open.disabled ? 'yes' : 'no',
            },
          ]}
          act={values => {
            const put = (body: object) =>
              api
                .put('/account-members/{account_member_id}', {
                  path: { account_member_id: open.id },
                  body: body as never,
                })
                .then(() => queries.invalidateQueries({ queryKey: ['members'] }))
            const next = { console_roles: rolesOf(values), disabled: values.disabled === 'yes' }
            return {
              title: `Change ${open.name ?? open.id}`,
              verb: 'Change',
              differences: [
                {
                  what: 'Roles',
                  before: rolesInWords(open, names),
                  after: rolesInWords({ ...open, ...next } as Member, names) || 'none',
                },
                {
                  what: 'Signs in',
                  before: open.disabled ? 'no' : 'yes',
                  after: next.disabled ? 'no' : 'yes',
                },
              ],
              run: () => put(next),
              done: 'The member was changed',
              undo: () => put({ console_roles: open.console_roles, disabled: open.disabled }),
            }
          }}
        />
      )}
    </Card>
  )
}
