import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { duration, phrase, words } from '../../ui/format.ts';
import { Loaded, PageHead, StatusBadge } from '../../ui/page.tsx';
import { Amount, Badge, Card, Copy, Empty, Facts, Notice, Time } from '../../ui/parts.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { call, type PartnerSchemas } from '../api.ts';
import { isUnderWay, momentsOf } from '../moments.ts';
import { Allowed, useMay } from '../session.tsx';
import { type Action, ActionButtons, Transaction, useAction } from '../shared.tsx';
import { type WholeOrder, wholeOrder } from '../whole-order.ts';

type Question = PartnerSchemas['ActionRequired'];

/** One order: what happened, what it waits for, and where the coins go. */
export function Order(): ReactNode {
  return (
    <Allowed to="orders:read">
      <Asked />
    </Allowed>
  );
}

function Asked(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const order = useQuery({
    ...wholeOrder(id),
    refetchInterval: ({ state: { data } }) => (data && !isUnderWay(data) ? false : 5_000),
  });
  return (
    <div className="page">
      {order.data ? null : <PageHead title="Order" above={<Crumb />} />}
      <Loaded of={order} lines={12}>
        {(view) => <Content order={view} />}
      </Loaded>
    </div>
  );
}

function Crumb(): ReactNode {
  return (
    <p className="crumb">
      <Link to="/orders">Orders</Link>
    </p>
  );
}

function Content({ order }: { order: WholeOrder }): ReactNode {
  const { terms } = order;
  return (
    <>
      <PageHead
        title={order.short_id}
        above={<Crumb />}
        lead={
          <span className="headline">
            <span className="strong">
              {terms.amount_from} {order.coin_from} <span className="arrow">→</span> {terms.amount_to} {order.coin_to}
            </span>
            <StatusBadge status={order.status} />
            <Badge>{order.rate_type === 'fixed' ? 'Fixed rate' : 'Float rate'}</Badge>
            {order.hold ? <Badge tone="warn">Held</Badge> : null}
          </span>
        }
      />
      {order.hold ? (
        <Notice tone="warn">
          Held for a check. Nothing is paid until it is released; the gateway's staff act next.
        </Notice>
      ) : null}
      <Returned order={order} />
      <Decision order={order} />
      <div className="wide-narrow">
        <div className="stack">
          <Timeline order={order} />
          <Money order={order} />
        </div>
        <div className="stack">
          <Deposit order={order} />
          <Terms order={order} />
          <Ids order={order} />
        </div>
      </div>
    </>
  );
}

/** Why the deposit is returned, what of it, and to which address. */
function Returned({ order }: { order: WholeOrder }): ReactNode {
  const { people, refunds } = order;
  const reason = people?.refund_reason;
  if (!reason) return null;
  const isDone = order.status === 'refunded';
  return (
    <Notice tone={isDone ? 'info' : 'warn'}>
      <p>
        <b>{isDone ? 'The deposit was returned.' : 'The deposit is to be returned.'}</b> {reason}
      </p>
      {refunds.map(({ amount, coin, fee }, index) => (
        <p key={index}>
          <Amount value={amount} coin={coin} /> to{' '}
          <span className="mono breaks">{people?.refunded_to[index]?.address}</span>
          {fee === '0' ? null : (
            <>
              , after the network fee of <Amount value={fee} coin={coin} />
            </>
          )}
        </p>
      ))}
    </Notice>
  );
}

const reasons: Readonly<Record<Question['reason'], string>> = {
  late: 'The deposit came after the window of the order.',
  underpaid: 'The deposit is smaller than expected.',
  overpaid: 'The deposit is larger than expected.',
  price_moved: 'The price has moved: the payout would be below the smallest that the order accepts.',
};

/** The open question, if there is one. The dialog of an answer stays when the question is gone. */
function Decision({ order }: { order: WholeOrder }): ReactNode {
  const [dialog, start] = useAction();
  return (
    <>
      {order.action_required ? <Question order={order} of={order.action_required} start={start} /> : null}
      {dialog}
    </>
  );
}

/** The question about a deposit, with the answers that are possible now. */
function Question(props: { order: WholeOrder; of: Question; start: (action: Action) => void }): ReactNode {
  const { order, of } = props;
  const may = useMay();
  const exchange = of.actions.find(({ action }) => action === 'exchange');
  const refund = of.actions.find(({ action }) => action === 'refund');
  const needsAddress = refund?.needs !== undefined;
  return (
    <Card title="What to do with the deposit?" tools={<Badge tone="bad">Decide</Badge>} className="question">
      <div className="stack tight">
        <p>{reasons[of.reason]}</p>
        <Facts
          of={[
            [
              'Exchange pays',
              exchange ? (
                <Amount key="e" value={exchange.amount_to ?? ''} coin={order.coin_to} />
              ) : (
                'Not offered at this moment'
              ),
            ],
            [
              'Refund pays',
              refund ? (
                <Amount key="r" value={refund.amount ?? ''} coin={order.coin_from} />
              ) : (
                'Not possible: the deposit does not cover the network fee'
              ),
            ],
            ['Refund without an answer', <Time key="t" at={of.deadline} />],
          ]}
        />
        {needsAddress ? (
          <Notice tone="warn">
            A refund needs a refund address. Set it by the partner API:{' '}
            <code>PUT /partner/orders/{order.short_id}/refund-address</code>.
          </Notice>
        ) : null}
        {may('orders:answer') ? (
          <div className="row tight">
            <ActionButtons
              start={props.start}
              of={[
                exchange ? answerAction(order, of, exchange) : null,
                refund && !needsAddress ? answerAction(order, of, refund) : null,
              ]}
            />
          </div>
        ) : (
          <p className="muted">Your role does not decide this. An owner, a developer or finance does.</p>
        )}
      </div>
    </Card>
  );
}

function answerAction(order: WholeOrder, { id }: Question, offer: Question['actions'][number]): Action {
  const { action, amount_to } = offer;
  const isExchange = action === 'exchange';
  return {
    name: isExchange ? 'Exchange' : 'Refund',
    icon: isExchange ? 'play' : 'refresh',
    title: isExchange ? 'Exchange the deposit' : 'Refund the deposit',
    about: isExchange
      ? `The user gets ${amount_to} ${order.coin_to}. This cannot be taken back.`
      : `The user gets the deposit back, less the network fee, at ${order.people?.refund_address}. This cannot be taken back.`,
    isPrimary: isExchange,
    run: async (_values, idempotencyKey) => {
      const body = { action_id: id, action, ...(amount_to === undefined ? {} : { amount_to }) };
      await call('actOnOrder', { path: { order_id: order.id }, body, idempotencyKey });
      return null;
    },
  };
}

function Timeline({ order }: { order: WholeOrder }): ReactNode {
  const moments = momentsOf(order);
  return (
    <Card title="What happened">
      <ol className="timeline">
        {moments.map(({ key, at, tone, what, text, txid, sinceSec }) => (
          <li key={key} className={tone}>
            <span className="what">{what}</span>
            {text ? <span className="text">{text}</span> : null}
            {txid ? (
              <span className="text">
                <Copy text={txid} label="transaction" short />
              </span>
            ) : null}
            <span className="when">
              <Time at={at} />
              {sinceSec === null ? null : ` · after ${duration(sinceSec)}`}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Deposit({ order }: { order: WholeOrder }): ReactNode {
  const isWaiting = order.status === 'waiting_deposit';
  return (
    <Card title={isWaiting ? 'Waits for the deposit' : 'Deposit'}>
      <div className="deposit">
        {isWaiting ? (
          <QrCode text={order.deposit_address} label={`The deposit address ${order.deposit_address}`} />
        ) : null}
        <Facts
          of={[
            ['Amount', <Amount key="a" value={order.terms.amount_from} coin={order.coin_from} />],
            ['Network', order.network_from],
            [
              'Memo or tag',
              order.deposit_address_tag === null ? null : (
                <Copy key="m" text={order.deposit_address_tag} label="memo" />
              ),
            ],
            ['Address', <Copy key="d" text={order.deposit_address} label="deposit address" />],
            [
              'Confirmations',
              order.deposit_confirmations === null
                ? null
                : `${order.deposit_confirmations} of ${order.deposit_confirmations_required}`,
            ],
            ['Until', isWaiting ? <Time key="t" at={order.expires_at} /> : null],
          ]}
        />
      </div>
    </Card>
  );
}

/** What an order pays, and to which address. */
function paymentsOf({ payout, refunds, people, recipient_address }: WholeOrder) {
  const recipient = { address: recipient_address, tag: people?.recipient_address_tag ?? null };
  return [
    ...(payout ? [{ ...payout, name: 'Payout', to: recipient, fee: undefined }] : []),
    ...refunds.map((refund, index) => ({ ...refund, name: 'Refund', to: people?.refunded_to[index] })),
  ];
}

function Money({ order }: { order: WholeOrder }): ReactNode {
  const { deposits, payout, refunds } = order;
  if (deposits.length === 0 && payout === null && refunds.length === 0) {
    return (
      <Card title="Transactions">
        <Empty icon="money" title="No transaction yet">
          <p>Deposits, the payout and refunds would be here.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <Card title="Transactions" flush>
      <ul className="items">
        {deposits.map(({ txid, coin, network, amount, confirmations, state, role, explorer_url, seen_at }) => (
          <li key={`${txid} ${role} ${amount}`} className="item">
            <header>
              <h3 className="item-title">
                {role === 'main' ? 'Deposit' : `Deposit: ${phrase(role)}`} <Amount value={amount} coin={coin} />
              </h3>
              <Badge tone={state === 'credited' ? 'good' : state === 'lost' ? 'bad' : 'info'}>{words(state)}</Badge>
            </header>
            <Facts
              of={[
                ['Network', network],
                ['Transaction', <Transaction key="t" txid={txid} url={explorer_url} />],
                ['Confirmations', String(confirmations)],
                ['Seen', <Time key="s" at={seen_at} />],
              ]}
            />
          </li>
        ))}
        {paymentsOf(order).map(({ name, txid, coin, network, amount, fee, state, to, explorer_url, ...at }, index) => (
          <li key={`${name} ${index}`} className="item">
            <header>
              <h3 className="item-title">
                {name} <Amount value={amount} coin={coin} />
              </h3>
              <Badge tone={state === 'confirmed' ? 'good' : state === 'failed' ? 'bad' : 'accent'}>
                {words(state)}
              </Badge>
            </header>
            <Facts
              of={[
                ['Network', network],
                ['To', to ? <Copy key="to" text={to.address} label="address" /> : null],
                ['Memo or tag', to?.tag ?? null],
                ['Transaction', txid ? <Transaction key="t" txid={txid} url={explorer_url} /> : null],
                ['Network fee', fee === undefined ? null : <Amount key="f" value={fee} coin={coin} />],
                ['Sent', at.sent_at ? <Time key="s" at={at.sent_at} /> : null],
                ['Confirmed', at.confirmed_at ? <Time key="c" at={at.confirmed_at} /> : null],
              ]}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Terms({ order }: { order: WholeOrder }): ReactNode {
  const { coin_from: from, coin_to: to, terms } = order;
  return (
    <Card title="Terms">
      <Facts
        of={[
          [
            'Rate',
            <span key="r">
              1 {from} = <Amount value={terms.rate} coin={to} />
            </span>,
          ],
          ['Service fee', <Amount key="s" value={terms.service_fee} coin={to} />],
          ['Your markup', <Amount key="m" value={terms.partner_markup} coin={to} />],
          ['Network fee', <Amount key="n" value={terms.network_fee} coin={to} />],
          ['User gets', <Amount key="g" value={terms.amount_to} coin={to} />],
        ]}
      />
    </Card>
  );
}

function Ids({ order }: { order: WholeOrder }): ReactNode {
  const { people } = order;
  return (
    <Card title="Addresses and ids">
      <Facts
        of={[
          ['Recipient', <Copy key="r" text={order.recipient_address} label="recipient address" />],
          ['Recipient tag', people?.recipient_address_tag ?? null],
          [
            'Refund to',
            people?.refund_address ? <Copy key="f" text={people.refund_address} label="refund address" /> : 'Not set',
          ],
          ['Refund tag', people?.refund_address_tag ?? null],
          ['Order id', <Copy key="i" text={order.id} label="order id" />],
          ['External id', order.external_id ? <Copy key="e" text={order.external_id} label="external id" /> : null],
          ['Created', <Time key="c" at={order.created_at} />],
          [
            'Order page',
            order.public_url ? (
              <span key="p">
                <Copy text={order.public_url} label="address of the order page" />{' '}
                <a href={order.public_url} target="_blank" rel="noopener noreferrer">
                  Open
                </a>
              </span>
            ) : null,
          ],
          ...Object.entries(order.metadata ?? {}).map(([name, value]) => [`Note: ${name}`, value] as const),
        ]}
      />
    </Card>
  );
}
