// One flag: its rules in order, changed by dragging or by keyboard, and a tester.
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, GripVertical, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { ago } from '../app/format.js'
import { Go, useGo, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Button, Card, Choice, Code, Empty, Failure, Input, Loaded, Page } from '../ui/basics.js'
import { useDelete } from './delete.js'
import { useHits } from './flag-checks.js'
import { Conditions, type ConditionWrite, conditionWords, type Names, useNames } from './flag-conditions.js'
import { type Draft, draftsOf, newDraft, putRules, type RuleWrite, restoreRules, Turn } from './flag-rules.js'
import { shortReason } from './overview.js'
import { CompanyPicker } from './why.js'

type Flag = Schemas['FlagDetail']
export default function FlagPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { environment, may } = useHere()
  const [isEdited, setIsEdited] = useState(false)
  const go = useGo()
  const ask = useDelete()
  const flag = useQuery({
    queryKey: [environment.id, 'flag', id],
    queryFn: () => api.get('/flags/{flag_id}', { path: { flag_id: id } }),
  })
  const { data } = flag
  // Rules that a person is editing stay as they are when another person saves.
  const edited = useRef<string | undefined>(undefined)
  if (!isEdited && data) edited.current = stampOf(data)
  const hits = useHits(data?.key)
  return (
    <Page
      above={<Go to="/flags">Flags</Go>}
      title={data?.name ?? id}
      below={
        data && (
          <>
            <Code>{data.key}</Code>
            <span>default {data.default_value ? 'on' : 'off'}</span>
            {data.last_checked_at && <span>checked {ago(data.last_checked_at)}</span>}
            {hits.words && <span>{hits.words}</span>}
            {data.feature && (
              <span>of the feature {data.feature.name}, whose plans decide before these rules</span>
            )}
            {may.admin && (
              <Go to="/audit" search={{ q: id }}>
                Changes
              </Go>
            )}
          </>
        )
      }
      actions={
        data &&
        may.write && (
          <Button
            onClick={() =>
              ask({
                name: data.key,
                differences: [
                  {
                    what: data.key,
                    before: `checked ${ago(data.last_checked_at)}`,
                    after: 'deleted everywhere',
                  },
                ],
                note: 'A server that still checks it gets the default of its own code.',
                run: () => api.del('/flags/{flag_id}', { path: { flag_id: id } }),
                leave: () => go('/flags'),
              })
            }
          >
            Delete
          </Button>
        )
      }
    >
      <Loaded of={flag}>
        {shown => (
          <div className="grid gap-4 xl:grid-cols-[3fr_2fr]">
            <Rules
              key={edited.current}
              flag={shown}
              isOutdated={edited.current !== stampOf(shown)}
              hitsOf={hits.ofRule}
              onEdited={setIsEdited}
            />
            <Tester flag={shown} isEdited={isEdited} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** Which rules a flag has. */
const stampOf = ({ id, rules }: Flag): string => `${id} ${rules.map(rule => rule.updated_at).join()}`

function Rules({
  flag,
  isOutdated,
  hitsOf,
  onEdited,
}: {
  readonly flag: Flag
  /** Whether another person saved rules since these were edited first. */
  readonly isOutdated: boolean
  /** The part of all checks that a rule decided, in words. */
  readonly hitsOf: (ruleId: string | undefined) => string | undefined
  /** Told whether there are changes that are not saved. */
  readonly onEdited: (isEdited: boolean) => void
}) {
  const { may, production } = useHere()
  const act = useAct()
  const first = draftsOf(flag)
  const [drafts, setDrafts] = useState<readonly Draft[]>(first)
  const [failure, setFailure] = useState<unknown>(null)
  const names = useNames(drafts.flatMap(({ rule }) => conditionsOf(rule)))
  const changed = JSON.stringify(drafts) !== JSON.stringify(first)
  useEffect(() => onEdited(changed), [changed, onEdited])
  const move = (from: number, to: number) =>
    setDrafts(was => {
      if (to < 0 || to >= was.length || from === to) return was
      const next = [...was]
      next.splice(to, 0, ...next.splice(from, 1))
      return next
    })
  const set = (at: number, change: Partial<RuleWrite>) =>
    setDrafts(was => was.map((one, i) => (i === at ? { ...one, rule: { ...one.rule, ...change } } : one)))
  const save = async () => {
    setFailure(null)
    const nameless = drafts.find(({ rule }) => rule.name.trim() === '')
    if (nameless) return setFailure(new Error('Each rule needs a name'))
    const isSaved = await act({
      title: `Save the rules of ${flag.name}`,
      verb: 'Save',
      differences: differencesOf(first, drafts, names),
      note: 'The next check follows the new rules.',
      ...(production && { typed: flag.key }),
      run: () => putRules(flag.id, drafts),
      done: `The rules of ${flag.name} are saved`,
      undo: () => restoreRules(flag.id, first),
    })
    if (isSaved) onEdited(false)
  }
  return (
    <Card
      title="Rules, in the order they are tried"
      aside={may.write && <Button onClick={() => setDrafts(was => [...was, newDraft()])}>Add rule</Button>}
    >
      {drafts.length === 0 ? (
        <Empty title="No rule here">
          {flag.feature_id
            ? 'Plans and overrides decide this flag.'
            : `Every check answers the default: ${flag.default_value ? 'on' : 'off'}.`}
        </Empty>
      ) : (
        <ol className="space-y-2">
          {drafts.map((draft, i) => (
            <RuleEditor
              key={draft.id}
              draft={draft}
              index={i}
              last={drafts.length - 1}
              editable={may.write}
              hits={hitsOf(draft.rule.id ?? undefined)}
              names={names}
              onMove={move}
              onChange={change => set(i, change)}
              onRemove={() => setDrafts(was => was.filter((_, at) => at !== i))}
            />
          ))}
        </ol>
      )}
      {failure !== null && <Failure error={failure} />}
      {changed && (
        <div className="mt-4 flex flex-wrap items-center gap-2 rounded-md bg-warn-soft px-3 py-2">
          <span className="flex-1 text-warn">
            Unsaved changes
            {isOutdated && '. Somebody saved other rules meanwhile: saving replaces theirs'}
          </span>
          <Button onClick={() => setDrafts(first)}>Discard</Button>
          <Button look="primary" onClick={() => void save()}>
            Save
          </Button>
        </div>
      )}
    </Card>
  )
}

const conditionsOf = (rule: RuleWrite): readonly ConditionWrite[] => [
  ...rule.conditions,
  ...rule.condition_groups.flatMap(group => group.conditions),
]

function inWords({ rule }: Draft, i: number, names: Names): string {
  const conditions = [
    ...rule.conditions.map(one => conditionWords(one, names)),
    ...rule.condition_groups.map(
      group => `(${group.conditions.map(one => conditionWords(one, names)).join(' or ')})`,
    ),
  ]
  return `${i + 1}. ${rule.name}: ${conditions.join(' and ') || 'always'} → ${rule.value ? 'on' : 'off'}`
}

function differencesOf(before: readonly Draft[], after: readonly Draft[], names: Names) {
  const ids = [...new Set([...before, ...after].map(({ id }) => id))]
  return ids.flatMap(id => {
    const [was, is] = [before.findIndex(one => one.id === id), after.findIndex(one => one.id === id)]
    const [old, now] = [
      was < 0 ? null : inWords(before[was]!, was, names),
      is < 0 ? null : inWords(after[is]!, is, names),
    ]
    const name = (after[is] ?? before[was])!.rule.name
    return old === now ? [] : [{ what: name, before: old, after: now ?? 'removed' }]
  })
}

function RuleEditor({
  draft: { id, rule },
  index,
  last,
  editable,
  hits,
  names,
  onMove,
  onChange,
  onRemove,
}: {
  readonly draft: Draft
  readonly index: number
  readonly last: number
  readonly editable: boolean
  readonly hits: string | undefined
  readonly names: Names
  readonly onMove: (from: number, to: number) => void
  readonly onChange: (change: Partial<RuleWrite>) => void
  readonly onRemove: () => void
}) {
  const place = useRef<HTMLLIElement>(null)
  const handle = useRef<HTMLSpanElement>(null)
  const [over, setOver] = useState(false)
  useEffect(() => {
    if (!editable || place.current === null || handle.current === null) return
    const stopDragging = draggable({
      element: place.current,
      dragHandle: handle.current,
      getInitialData: () => ({ rule: id, index }),
    })
    const stopDropping = dropTargetForElements({
      element: place.current,
      canDrop: ({ source }) => typeof source.data.index === 'number',
      onDragEnter: () => setOver(true),
      onDragLeave: () => setOver(false),
      onDrop: ({ source }) => {
        setOver(false)
        onMove(source.data.index as number, index)
      },
    })
    return () => {
      stopDragging()
      stopDropping()
    }
  })
  const name = rule.name || `rule ${index + 1}`
  return (
    <li
      ref={place}
      className={`rounded-md border p-3 ${over ? 'border-accent bg-accent-soft' : 'border-line'}`}
    >
      <div className="flex flex-wrap items-center gap-2">
        {editable && (
          <span
            ref={handle}
            className="cursor-grab text-muted"
            title="Drag to another place"
            aria-hidden="true"
          >
            <GripVertical size={16} />
          </span>
        )}
        <span className="w-5 text-muted">{index + 1}</span>
        {editable ? (
          <Input
            className="max-w-60 min-w-32 flex-1"
            aria-label={`Name of rule ${index + 1}`}
            value={rule.name}
            onInput={event => onChange({ name: event.currentTarget.value })}
          />
        ) : (
          <span className="flex-1 font-medium">{rule.name}</span>
        )}
        {editable ? (
          <Choice
            className="max-w-28"
            aria-label={`Value of ${name}`}
            value={rule.value ? 'on' : 'off'}
            options={[
              ['on', '→ on'],
              ['off', '→ off'],
            ]}
            onChange={event => onChange({ value: event.currentTarget.value === 'on' })}
          />
        ) : (
          <Badge tone={rule.value ? 'ok' : 'danger'}>{rule.value ? 'on' : 'off'}</Badge>
        )}
        {hits && (
          <span className="text-xs whitespace-nowrap text-muted" title="Of all checks in 24 h">
            {hits}
          </span>
        )}
        {rule.rule_type !== 'standard' && <Badge>{(rule.rule_type ?? '').replaceAll('_', ' ')}</Badge>}
        {editable && (
          <span className="flex">
            <Button
              look="quiet"
              disabled={index === 0}
              aria-label={`Move ${name} up`}
              onClick={() => onMove(index, index - 1)}
            >
              <ArrowUp size={16} aria-hidden="true" />
            </Button>
            <Button
              look="quiet"
              disabled={index === last}
              aria-label={`Move ${name} down`}
              onClick={() => onMove(index, index + 1)}
            >
              <ArrowDown size={16} aria-hidden="true" />
            </Button>
            <Button look="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
              <Trash2 size={16} aria-hidden="true" />
            </Button>
          </span>
        )}
      </div>
      <Conditions
        conditions={rule.conditions}
        editable={editable}
        ruleName={name}
        names={names}
        onChange={conditions => onChange({ conditions: [...conditions] })}
      />
      {rule.condition_groups.length > 0 && (
        <p className="mt-2 text-xs text-muted">
          and one of each of {rule.condition_groups.length} groups:{' '}
          {rule.condition_groups
            .map(group => group.conditions.map(one => conditionWords(one, names)).join(' or '))
            .join('; ')}
        </p>
      )}
    </li>
  )
}

function Tester({ flag, isEdited }: { readonly flag: Flag; readonly isEdited: boolean }) {
  const { environment } = useHere()
  const [company, setCompany] = useState('')
  const told = useQuery({
    queryKey: [environment.id, 'company', company, 'why', flag.key],
    enabled: company !== '',
    queryFn: () =>
      api.post('/flags/{key}/explain', { path: { key: flag.key }, body: { company_id: company } }),
  })
  return (
    <Card title="Tester">
      <p className="mb-2 text-sm text-muted">
        What does a company get now, by the saved rules? Nothing is counted.
      </p>
      <CompanyPicker value={company} onChange={setCompany} />
      {company !== '' && (
        <Loaded of={told}>
          {why => (
            <div className="mt-3">
              <Badge tone={why.value ? 'ok' : 'danger'}>{why.value ? 'ON' : 'OFF'}</Badge>{' '}
              <span>{shortReason(why.reason)}</span>{' '}
              {flag.feature_id === null && !isEdited && (
                <Turn why={why} company={why.company_name || company} />
              )}
              <div className="mt-2">
                <Go to="/why" search={{ company, flag: flag.key }}>
                  Every rule and what it saw
                </Go>
              </div>
            </div>
          )}
        </Loaded>
      )}
    </Card>
  )
}
