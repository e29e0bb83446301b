// The price of a plan, and the dialog that changes it in the draft.
import { useState } from 'react'
import { api } from '../app/api.js'
import { count, mainUnit, smallestUnit } from '../app/format.js'
import { useHere } from '../app/place.js'
import { Button, Card, Empty } from '../ui/basics.js'
import { FormDialog, type Values } from '../ui/form.js'
import { type Cadence, type Diff, type Terms, termsWords } from './plan-words.js'

const trialWords = (days: number | null): string => (days ? `${count(days, 'day')} to try` : 'no trial')

const none: Terms = { currency: 'usd', charge_type: 'none', trial_days: null, prices: [] }

export function PlanPrice({ diff }: { readonly diff: Diff }) {
  const { may } = useHere()
  const [open, setOpen] = useState(false)
  const terms = diff.terms ?? none
  return (
    <Card title="Price" aside={may.write && <Button onClick={() => setOpen(true)}>Change price</Button>}>
      {terms.prices.length === 0 && terms.charge_type !== 'free' ? (
        <Empty title="No price">Companies on it are not billed for the plan itself.</Empty>
      ) : (
        <p>
          <span className="font-medium">{termsWords(terms)}</span>
          {terms.trial_days !== null && <span className="text-muted"> · {trialWords(terms.trial_days)}</span>}
        </p>
      )}
      {open && <ChangePrice diff={diff} terms={terms} onClose={() => setOpen(false)} />}
    </Card>
  )
}

function ChangePrice({
  diff,
  terms,
  onClose,
}: {
  readonly diff: Diff
  readonly terms: Terms
  readonly onClose: () => void
}) {
  const own = (cadence: Cadence) =>
    terms.prices.find(one => one.cadence === cadence && one.currency === terms.currency)
  const others = terms.prices.filter(one => one.currency !== terms.currency)
  const field = (cadence: Cadence, label: string, when: (values: Values) => boolean) => {
    const price = own(cadence)?.price
    return {
      name: cadence,
      label,
      optional: true,
      ...(price !== undefined && /^\d+$/.test(price) && { initial: mainUnit(Number(price), terms.currency) }),
      when,
    }
  }
  const recurs = ({ charge }: Values) => charge === 'recurring'
  return (
    <FormDialog
      title="Change price"
      onClose={onClose}
      fields={[
        {
          name: 'charge',
          label: 'Charged',
          kind: 'choice',
          options: [
            ['recurring', 'Each period'],
            ['one_time', 'Once'],
            ['free', 'Free'],
          ],
          initial: terms.charge_type === 'none' ? 'recurring' : terms.charge_type,
        },
        {
          name: 'currency',
          label: 'Currency',
          initial: terms.currency,
          hint: 'Three letters, e.g. usd.',
          when: ({ charge }) => charge !== 'free',
        },
        field('monthly', 'A month', recurs),
        field('quarterly', 'A quarter', recurs),
        field('yearly', 'A year', recurs),
        field('one_time', 'Once', ({ charge }) => charge === 'one_time'),
        {
          name: 'trial',
          label: 'Days to try',
          kind: 'number',
          optional: true,
          ...(terms.trial_days !== null && { initial: String(terms.trial_days) }),
          when: recurs,
        },
      ]}
      note={
        others.length > 0 && (
          <p className="text-muted">
            Prices in other currencies stay as they are:{' '}
            {termsWords({ charge_type: 'recurring', prices: others })}.
          </p>
        )
      }
      act={values => {
        const { body, next } = changeOf(values)
        return {
          title: `Change the price of ${diff.plan_name} in the draft`,
          verb: 'Change',
          differences: [
            {
              what: 'Price',
              before: termsWords(terms),
              after: termsWords({ ...next, prices: [...next.prices, ...others] }),
            },
            ...(next.trial_days === terms.trial_days
              ? []
              : [
                  { what: 'Trial', before: trialWords(terms.trial_days), after: trialWords(next.trial_days) },
                ]),
          ],
          note: 'It takes effect when the draft is published.',
          run: () =>
            api.put('/plans/{plan_id}/billing_products', {
              path: { plan_id: diff.plan_id },
              body: body as never,
            }),
          done: `The price of ${diff.plan_name} was changed in the draft`,
        }
      }}
    />
  )
}

/** The request for what the fields say, and the terms it leads to. errors: an amount or a currency that is none. */
function changeOf(values: Values): { readonly body: object; readonly next: Terms } {
  const charge = values.charge as Terms['charge_type']
  if (charge === 'free')
    return {
      body: { charge_type: 'free', is_trialable: false },
      next: { ...none, charge_type: 'free' },
    }
  const currency = (values.currency ?? '').trim().toLowerCase()
  if (!/^[a-z]{3}$/.test(currency)) throw new Error('Currency: three letters, e.g. usd')
  const asked: readonly Cadence[] = charge === 'one_time' ? ['one_time'] : ['monthly', 'quarterly', 'yearly']
  const amounts = asked.map(cadence => {
    const text = (values[cadence] ?? '').trim()
    const amount = text === '' ? null : smallestUnit(text, currency)
    if (text !== '' && amount === null)
      throw new Error(`${text}: write an amount such as ${mainUnit(4950, currency)}`)
    return [cadence, amount] as const
  })
  if (amounts.every(([, amount]) => amount === null))
    throw new Error('Give at least one price, or choose Free')
  const days = charge === 'recurring' && values.trial ? Number(values.trial) : null
  return {
    body: {
      charge_type: charge,
      currency,
      ...Object.fromEntries(amounts.map(([cadence, amount]) => [`${cadence}_price`, amount])),
      is_trialable: days !== null && days > 0,
      ...(days !== null && days > 0 && { trial_days: days }),
    },
    next: {
      currency,
      charge_type: charge,
      trial_days: days || null,
      prices: amounts.flatMap(([cadence, amount]) =>
        amount === null ? [] : [{ id: '', currency, cadence, price: String(amount) }],
      ),
    },
  }
}
