import { type ReactNode, useState } from 'react';
import { Dialog, Form } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHead, StatusBadge } from '../../ui/page.tsx';
import {
  Ago,
  Amount,
  Badge,
  Card,
  Copy,
  Empty,
  Facts,
  Meter,
  Notice,
  Segments,
  Skeleton,
  Table,
  Time,
} from '../../ui/parts.tsx';
import { Plot } from '../../ui/plot.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { orderStatuses } from '../shared.tsx';

const colours = ['ground', 'surface', 'sunken', 'line', 'text', 'muted', 'accent', 'good', 'warn', 'bad', 'info'];
const week = [12, 18, 9, 22, 31, 27, 35].map((value, index) => ({
  at: `2026-11-${16 + index}T00:00:00.000Z`,
  value,
  text: String(value),
}));
const plain = (value: number): string => String(value);

/** Every component of the design system in each of its states. */
export function Components(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [choice, setChoice] = useState<'day' | 'week'>('day');
  return (
    <div className="page">
      <PageHead title="Components" lead="Everything that pages are made of." />
      <Card title="Colours">
        <div className="swatches">
          {colours.map((name) => (
            <div key={name}>
              <svg viewBox="0 0 10 10" preserveAspectRatio="none" aria-hidden="true">
                <rect width="10" height="10" className={`swatch-${name}`} />
              </svg>
              <code>{name}</code>
            </div>
          ))}
        </div>
      </Card>
      <Card title="Buttons and choices">
        <div className="row">
          <button type="button" className="button primary" onClick={() => setOpen(true)}>
            Open a dialog
          </button>
          <button type="button" className="button">
            <Icon name="copy" /> Plain
          </button>
          <button type="button" className="button danger">
            Dangerous
          </button>
          <button type="button" className="button quiet">
            Quiet
          </button>
          <button type="button" className="button" disabled>
            Disabled
          </button>
          <Segments
            label="Period"
            value={choice}
            choices={[
              ['day', 'Day'],
              ['week', 'Week'],
            ]}
            onChange={setChoice}
          />
        </div>
      </Card>
      <Card title="Statuses">
        <div className="row">
          {orderStatuses.map((status) => (
            <StatusBadge key={status} status={status} />
          ))}
          <Badge>Plain</Badge>
        </div>
      </Card>
      <div className="halves">
        <Card title="Values">
          <Facts
            of={[
              ['Amount', <Amount key="a" value="0.0123" coin="BTC" />],
              ['Cut amount', <Amount key="b" value="0.012345678901" coin="ETH" decimals={8} />],
              ['Time', <Time key="t" at="2026-11-22T10:02:25.000Z" />],
              ['Age', <Ago key="g" at="2026-11-22T10:02:25.000Z" />],
              ['Text to copy', <Copy key="c" text="TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH" label="address" />],
              ['Share', <Meter key="m" share={0.4} label="40 %" />],
            ]}
          />
        </Card>
        <Card title="QR code">
          <QrCode text="TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH" label="A QR code of an address" />
        </Card>
      </div>
      <Card title="Notices">
        <div className="stack tight">
          <Notice>Something to know.</Notice>
          <Notice tone="good">All is well.</Notice>
          <Notice tone="warn">Something to look at.</Notice>
          <Notice tone="bad">Something is wrong.</Notice>
        </div>
      </Card>
      <Card title="Plot">
        <Plot sentence="Seven days of a made-up series." points={week} axis={plain} unit="Orders" height={160} />
      </Card>
      <div className="halves">
        <Card title="Table" flush>
          <Table
            label="Example"
            head={
              <>
                <th>Coin</th>
                <th className="number">Amount</th>
              </>
            }
          >
            <tr>
              <td>BTC</td>
              <td className="number">0.5</td>
            </tr>
            <tr>
              <td>USDT</td>
              <td className="number">1200</td>
            </tr>
          </Table>
        </Card>
        <Card title="Loading" className="example">
          <Skeleton lines={4} />
        </Card>
        <Card title="Empty">
          <Empty title="Nothing here yet">
            <p>What would be here is said here.</p>
          </Empty>
        </Card>
        <Card title="Forbidden">
          <Empty icon="lock" title="Your role does not show this page" />
        </Card>
      </div>
      {isOpen ? (
        <Dialog title="A dialog" onClose={() => setOpen(false)}>
          <Form
            fields={[
              { name: 'address', label: 'Address' },
              { name: 'reason', label: 'Reason', kind: 'long', hint: 'Kept in the audit log.' },
            ]}
            action="Refuse"
            submit={async () => ({ whole: null, fields: { address: 'This is refused, to show how' } })}
            onCancel={() => setOpen(false)}
          />
        </Dialog>
      ) : null}
    </div>
  );
}
