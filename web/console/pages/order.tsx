import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { faultsOf } from '../../ui/failure.ts';
import { count, duration, percent, phrase, words } from '../../ui/format.ts';
import { Loaded, PageHead, StatusBadge } from '../../ui/page.tsx';
import { Ago, Amount, Badge, Card, Copy, Empty, Facts, Notice, Segments, Table, Time } from '../../ui/parts.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { query } from '../api.ts';
import { Decide } from '../decide.tsx';
import {
  HoldOrderDocument,
  MarkFailedDocument,
  NoteOrderDocument,
  OrderDocument,
  type OrderQuery,
  RefundOrderDocument,
  ReleaseOrderDocument,
  RenewOrderPageDocument,
  RetryPayoutDocument,
  RevokeOrderPageDocument,
  VenuePriceDocument,
} from '../generated/graphql.ts';
import { useMay, useMember } from '../session.tsx';
import { type Action, Actions, send } from '../shared.tsx';
import { type Moment, momentsOf } from '../timeline.ts';

type OrderView = OrderQuery['order'];

/** One order: what happened, what it waits for, and what the member may do. */
export function Order(): ReactNode {
  const { id } = useParams({ from: '/orders/$id' });
  const may = useMay();
  const variables = { id, mayActions: may('actions:read'), mayLedger: may('ledger:read') };
  const order = useQuery({ ...query('order', OrderDocument, variables), refetchInterval: 30_000 });
  return (
    <div className="page">
      <Loaded of={order} lines={12}>
        {(data) => <Content order={data.order} />}
      </Loaded>
    </div>
  );
}

function Content({ order }: { order: OrderView }): ReactNode {
  const { shortId, status, hold, coinFrom, coinTo } = order;
  const from = order.amountFromActual ?? order.amountFromExpected;
  const to = order.amountToActual ?? order.amountToExpected;
  const proposals = order.actions?.filter(({ state }) => state === 'PROPOSED') ?? [];
  return (
    <>
      <PageHead
        title={shortId}
        above={
          <p className="crumb">
            <Link to="/orders">Orders</Link> / {order.partner.name}
          </p>
        }
        lead={
          <span className="headline">
            <span className="strong">
              {from} {coinFrom} <span className="arrow">→</span> {to} {coinTo}
            </span>
            <StatusBadge status={status} />
            <Badge>{order.rateType === 'FIXED' ? 'Fixed rate' : 'Float rate'}</Badge>
            {hold ? <Badge tone="bad">Held</Badge> : null}
          </span>
        }
      >
        <Actions
          of={actionsOf(order, useMay())}
          version={`${order.updatedAt} ${order.events.length} ${order.actions?.length}`}
        />
      </PageHead>
      {hold ? (
        <Notice tone="bad">
          Held since <Time at={hold.since} />: {holdReason(order)}. Nothing is paid until it is released.
        </Notice>
      ) : null}
      {proposals.map((proposal) => (
        <Decide key={proposal.id} proposal={proposal} />
      ))}
      <div className="wide-narrow">
        <div className="stack">
          <Timeline order={order} />
          <Notes order={order} />
          <Ledger order={order} />
        </div>
        <div className="stack">
          <DepositCard order={order} />
          <PayoutCard order={order} />
          <TermsCard order={order} />
        </div>
      </div>
    </>
  );
}

function holdReason(order: OrderView): string {
  if (order.hold?.reason !== 'staff') return order.hold?.reason ?? '';
  return order.actions?.findLast(({ action }) => action === 'HOLD')?.reason ?? 'by staff';
}

const final: ReadonlySet<string> = new Set(['COMPLETED', 'REFUNDED', 'EXPIRED']);

/** What the member may do with the order in its present state. The server checks each again. */
function actionsOf(order: OrderView, may: (permission: string) => boolean): readonly (Action | null | false)[] {
  const { id, status, hold, trade, deposits } = order;
  const stray = deposits.filter(({ problem }) => problem !== null);
  return [
    may('orders:hold') &&
      !hold &&
      !final.has(status) && {
        name: 'Hold',
        icon: 'pause',
        title: `Hold ${order.shortId}`,
        about: 'The order takes no further step and sends no payment until it is released. This happens at once.',
        isDangerous: true,
        run: ({ reason = '' }) => send(HoldOrderDocument, { orderId: id, reason }),
      },
    may('orders:act') &&
      hold !== null && {
        name: 'Release',
        icon: 'play',
        title: `Release ${order.shortId}`,
        about: 'The order continues where it stood.',
        needsSecond: true,
        run: ({ reason = '' }) => send(ReleaseOrderDocument, { orderId: id, reason }),
      },
    may('orders:act') &&
      status === 'FAILED' && {
        name: 'Retry payout',
        icon: 'refresh',
        title: `Retry the payout of ${order.shortId}`,
        about: `Sends ${order.amountToActual ?? order.amountToExpected} ${order.coinTo} to ${order.recipientAddress}.`,
        needsSecond: true,
        run: ({ reason = '' }) => send(RetryPayoutDocument, { orderId: id, reason }),
      },
    may('orders:act') &&
      (status === 'FAILED' || stray.length > 0) && {
        name: 'Refund',
        icon: 'left',
        title: `Refund ${order.shortId}`,
        about: 'Sends a deposit, or the part of it that is not spent, to an address.',
        needsSecond: true,
        fields: [
          ...(deposits.length > 1
            ? [
                {
                  name: 'depositId',
                  label: 'Deposit',
                  kind: 'choice' as const,
                  initial: stray[0]?.id ?? deposits[0]?.id ?? '',
                  choices: deposits.map(
                    (deposit) =>
                      [deposit.id, `${deposit.amount} ${deposit.coin}, ${deposit.txid.slice(0, 12)}…`] as const,
                  ),
                },
              ]
            : []),
          { name: 'address', label: 'Address', initial: order.refundAddress ?? '', hint: `On ${order.networkFrom}` },
          { name: 'tag', label: 'Tag or memo', isOptional: true, initial: order.refundAddressTag ?? '' },
        ],
        run: ({ reason = '', address = '', tag = '', depositId = '' }) =>
          send(RefundOrderDocument, {
            reason,
            input: {
              ...(depositId ? { depositId } : { orderId: id }),
              address: address.trim(),
              ...(tag ? { tag } : {}),
            },
          }),
      },
    may('orders:act') &&
      (status === 'SENDING' || status === 'REFUNDING') && {
        name: 'Mark failed',
        icon: 'close',
        title: `End the payment of ${order.shortId}`,
        about: 'Ends a payout or refund that was never signed, and fails the order. A signed payment is never ended.',
        isDangerous: true,
        run: ({ reason = '' }) => send(MarkFailedDocument, { orderId: id, reason }),
      },
    may('orders:act') &&
      trade !== null &&
      (trade.problem !== null || trade.state === 'UNWOUND') && {
        name: 'Venue price',
        icon: 'money',
        title: `Worst price for ${order.shortId}`,
        about: "The worst price for trading the rest that the exchange left: at most a quarter away from the market's.",
        needsSecond: true,
        fields: [{ name: 'price', label: "The venue's cash for one coin" }],
        run: ({ reason = '', price = '' }) => send(VenuePriceDocument, { orderId: id, price: price.trim(), reason }),
      },
    may('orders:hold') &&
      order.partner.orderPage && {
        name: 'New page link',
        icon: 'refresh',
        title: `New link to the page of ${order.shortId}`,
        about: order.hasPageLink
          ? "For a link that the wrong people have. It ends at once, and the partner's API tells the new one."
          : "The order has no link. The partner's API tells the new one.",
        run: ({ reason = '' }) => send(RenewOrderPageDocument, { orderId: id, reason }),
        shown: () => <Notice tone="good">The link before works no more. The partner's API tells the new one.</Notice>,
      },
    may('orders:hold') &&
      order.partner.orderPage &&
      order.hasPageLink && {
        name: 'End page link',
        icon: 'close',
        title: `End the page link of ${order.shortId}`,
        about: 'The link to the page of the user ends at once. The order itself continues.',
        isDangerous: true,
        run: ({ reason = '' }) => send(RevokeOrderPageDocument, { orderId: id, reason }),
        shown: () => <Notice tone="good">The link works no more.</Notice>,
      },
  ];
}

const filters = [
  ['all', 'All'],
  ['move', 'Status'],
  ['money', 'Money'],
  ['staff', 'Staff'],
] as const;

function Timeline({ order }: { order: OrderView }): ReactNode {
  const [kind, setKind] = useState<(typeof filters)[number][0]>('all');
  const moments = momentsOf(order);
  const shown = moments.filter((moment) => kind === 'all' || moment.kind === kind);
  return (
    <Card title="What happened" tools={<Segments label="Show" value={kind} choices={filters} onChange={setKind} />}>
      {shown.length === 0 ? (
        <Empty title="Nothing of this kind yet" />
      ) : (
        <ol className="timeline">
          {shown.map((moment, index) => (
            <Entry key={moment.key} moment={moment} before={shown[index - 1]} />
          ))}
        </ol>
      )}
    </Card>
  );
}

function Entry({ moment, before }: { moment: Moment; before: Moment | undefined }): ReactNode {
  const elapsed = before ? (Date.parse(moment.at) - Date.parse(before.at)) / 1_000 : 0;
  return (
    <li className={moment.tone}>
      <span className="what">{moment.what}</span>
      {moment.text ? <span className="text">{moment.text}</span> : null}
      {moment.txid ? <Copy text={moment.txid} short label="transaction" /> : null}
      {moment.url ? (
        <a href={moment.url} target="_blank" rel="noreferrer">
          Explorer
        </a>
      ) : null}
      <span className="when">
        {moment.who ? `${moment.who} · ` : ''}
        <Time at={moment.at} />
        {elapsed >= 1 ? ` · after ${duration(elapsed)}` : ''}
      </span>
    </li>
  );
}

function DepositCard({ order }: { order: OrderView }): ReactNode {
  const isWaiting = order.status === 'WAITING_DEPOSIT';
  return (
    <Card title="Deposit">
      <div className="deposit">
        {isWaiting ? (
          <QrCode
            text={order.paymentUri ?? order.depositAddress}
            label={`The payment of ${order.amountFromExpected} ${order.coinFrom} to ${order.depositAddress}`}
          />
        ) : null}
        <Facts
          of={[
            [
              'Send',
              <Amount key="a" value={order.amountFromExpected} coin={`${order.coinFrom} on ${order.networkFrom}`} />,
            ],
            ['To', <Copy key="c" text={order.depositAddress} label="deposit address" />],
            ['Tag or memo', order.depositAddressTag && <Copy key="t" text={order.depositAddressTag} label="tag" />],
            [
              'Arrived',
              order.amountFromActual && <Amount key="n" value={order.amountFromActual} coin={order.coinFrom} />,
            ],
            ['Confirmations', `${order.depositConfirmations ?? 0} of ${order.depositConfirmationsRequired}`],
            [
              'Transaction',
              order.depositTxid && <Copy key="x" text={order.depositTxid} short label="deposit transaction" />,
            ],
            ['Window ends', <WindowEnd key="w" at={order.expiresAt} isWaiting={isWaiting} />],
          ]}
        />
      </div>
      {order.deposits
        .filter(({ problem }) => problem !== null)
        .map(({ id, amount, coin, problem, txid }) => (
          <Notice key={id} tone="warn">
            {amount} {coin}: {phrase(problem ?? '')}. <Copy text={txid} short label="transaction" />
          </Notice>
        ))}
    </Card>
  );
}

function WindowEnd({ at, isWaiting }: { at: string; isWaiting: boolean }): ReactNode {
  return (
    <>
      <Time at={at} />
      {isWaiting ? (
        <span className="muted">
          {' '}
          (<Ago at={at} />)
        </span>
      ) : null}
    </>
  );
}

function PayoutCard({ order }: { order: OrderView }): ReactNode {
  return (
    <Card title="Payout">
      <Facts
        of={[
          [
            'Pays',
            <Amount
              key="a"
              value={order.amountToActual ?? order.amountToExpected}
              coin={`${order.coinTo} on ${order.networkTo}`}
            />,
          ],
          ['To', <Copy key="c" text={order.recipientAddress} label="recipient address" />],
          ['Tag or memo', order.recipientAddressTag],
          [
            'Transaction',
            order.payoutTxid && <Copy key="x" text={order.payoutTxid} short label="payout transaction" />,
          ],
          ['Refund address', order.refundAddress && <Copy key="r" text={order.refundAddress} label="refund address" />],
          ['Set later', order.refundAddressSetAt && <Time key="s" at={order.refundAddressSetAt} />],
        ]}
      />
      {order.payments
        .filter(({ problem }) => problem !== null)
        .map(({ id, kind, problem, problemSince }) => (
          <Notice key={id} tone="bad">
            {words(kind)}: {problem} {problemSince ? <Ago at={problemSince} /> : null}
          </Notice>
        ))}
    </Card>
  );
}

function TermsCard({ order }: { order: OrderView }): ReactNode {
  const { terms, trade } = order;
  return (
    <Card title="Terms and exchange">
      <Facts
        of={[
          ['Rate', `1 ${order.coinFrom} = ${terms.rate} ${order.coinTo}`],
          ['Service fee', `${terms.serviceFee} ${order.coinTo} (${percent(terms.feeRate)})`],
          ['Network fee', `${terms.networkFee} ${order.coinTo}`],
          [
            'Exchange',
            trade &&
              `${words(trade.state)} at ${trade.venue}${trade.tries > 1 ? `, after ${count(trade.tries)} tries` : ''}`,
          ],
          ['Bought', trade?.bought && <Amount key="b" value={trade.bought} coin={order.coinTo} />],
          ['At least', trade && <Amount key="m" value={trade.minBought} coin={order.coinTo} />],
          ['Venue said', trade?.problem],
          [
            'Partner',
            <Link key="p" to="/partners/$id" params={{ id: order.partner.id }}>
              {order.partner.name}
            </Link>,
          ],
          ['Order id', <Copy key="i" text={order.id} label="order id" />],
        ]}
      />
    </Card>
  );
}

function Notes({ order }: { order: OrderView }): ReactNode {
  const may = useMay();
  const { email } = useMember();
  const client = useQueryClient();
  const [text, setText] = useState('');
  const note = useMutation({
    mutationFn: () => send(NoteOrderDocument, { orderId: order.id, text }),
    onSuccess: () => {
      setText('');
      return client.invalidateQueries({ queryKey: ['order'] });
    },
  });
  if (!may('orders:note') && order.notes.length === 0) return null;
  return (
    <Card title="Notes">
      <div className="stack">
        {order.notes.length === 0 ? <p className="muted">No one wrote about this order yet.</p> : null}
        {order.notes.map(({ id, at, text: written, author }) => (
          <div key={id}>
            <p>{written}</p>
            <p className="muted small">
              {author.email} · <Time at={at} />
            </p>
          </div>
        ))}
        {may('orders:note') ? (
          <form
            className="note-form"
            onSubmit={(event) => {
              event.preventDefault();
              note.mutate();
            }}
          >
            <textarea
              className="input"
              aria-label={`Note by ${email}`}
              placeholder="Write a note for colleagues"
              maxLength={4_000}
              required
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
            {note.error ? <Notice tone="bad">{faultsOf(note.error).whole}</Notice> : null}
            <div>
              <button type="submit" className="button" disabled={note.isPending}>
                Add the note
              </button>
            </div>
          </form>
        ) : null}
      </div>
    </Card>
  );
}

function Ledger({ order: { ledgerLines } }: { order: OrderView }): ReactNode {
  if (!ledgerLines) return null;
  return (
    <Card title="Ledger" flush={ledgerLines.length > 0}>
      {ledgerLines.length === 0 ? (
        <p className="muted">Nothing was booked yet. Each entry would be here, with debits positive.</p>
      ) : (
        <Table
          label="Ledger"
          head={
            <>
              <th>Time, UTC</th>
              <th>Entry</th>
              <th>Account</th>
              <th className="number">Amount</th>
            </>
          }
        >
          {ledgerLines.map((line, index) => (
            <tr key={index}>
              <td className="nowrap">{line.at.slice(0, 19).replace('T', ' ')}</td>
              <td>{words(line.kind)}</td>
              <td>
                {words(line.account)} {line.venue ? <span className="muted">{line.venue}</span> : null}
              </td>
              <td className="number">
                <Amount value={line.amount} coin={line.coin} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
