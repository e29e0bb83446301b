// Every part of the ui folder on one page, for those who change them.
import { useState } from 'react'
import { useAct } from '../ui/act.js'
import {
  Badge,
  Bar,
  Button,
  Card,
  Choice,
  Code,
  Empty,
  Failure,
  Field,
  Input,
  Page,
  Stat,
  TextArea,
  type Tone,
} from '../ui/basics.js'
import { Chart } from '../ui/chart.js'
import { Dialog } from '../ui/dialog.js'
import { Cell, Row, Table } from '../ui/table.js'
import { Tabs } from '../ui/tabs.js'

const tones: readonly Tone[] = ['plain', 'accent', 'ok', 'warn', 'danger']
const days = Array.from({ length: 14 }, (_, i) => new Date(Date.UTC(2026, 0, i + 1)).toISOString())

export default function Ui() {
  const act = useAct()
  const [open, setOpen] = useState(false)
  const [tab, setTab] = useState('one')
  return (
    <Page title="Parts">
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title="Buttons and badges">
          <div className="flex flex-wrap gap-2">
            <Button look="primary" onClick={() => setOpen(true)}>
              A dialog
            </Button>
            <Button
              onClick={() =>
                void act({
                  title: 'An act',
                  verb: 'Do it',
                  differences: [{ what: 'Limit', before: '10', after: '20' }],
                  run: () => Promise.resolve(),
                  done: 'It is done',
                  undo: () => Promise.resolve(),
                })
              }
            >
              An act
            </Button>
            <Button look="danger">Danger</Button>
            <Button disabled>Disabled</Button>
            {tones.map(tone => (
              <Badge key={tone} tone={tone}>
                {tone}
              </Badge>
            ))}
            <Code>slug=acme</Code>
          </div>
        </Card>
        <Card title="Fields">
          <Field label="A text" hint="With a hint.">
            {id => <Input id={id} placeholder="Text" />}
          </Field>
          <Field label="A choice">
            {id => (
              <Choice
                id={id}
                options={[
                  ['a', 'One'],
                  ['b', 'Another'],
                ]}
              />
            )}
          </Field>
          <Field label="A long text">{id => <TextArea id={id} />}</Field>
        </Card>
        <Card title="Bars">
          <Bar used={3} limit={10} />
          <Bar used={9} limit={10} />
          <Bar used={14} limit={10} />
          <Bar used={14} limit={null} />
        </Card>
        <Card title="A table">
          <Table label="A table" head={['Name', 'Value']}>
            <Row>
              <Cell>One</Cell>
              <Cell>1</Cell>
            </Row>
          </Table>
        </Card>
        <Stat label="A figure" value="1,234" note="With a note" />
        <Failure error={new Error('Something failed')} retry={() => {}} />
        <Empty title="Nothing here">What to do first.</Empty>
        <Card title="A chart">
          <Chart label="A chart" days={days} series={[{ name: 'One', values: days.map((_, i) => i * i) }]} />
        </Card>
        <Tabs
          value={tab}
          onChange={setTab}
          tabs={[
            { id: 'one', name: 'One', content: () => 'The first' },
            { id: 'two', name: 'Two', content: () => 'The second' },
          ]}
        />
      </div>
      <Dialog open={open} title="A dialog" onClose={() => setOpen(false)}>
        With a text.
      </Dialog>
    </Page>
  )
}
