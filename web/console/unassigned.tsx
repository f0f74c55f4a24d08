import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { words } from '../ui/format.ts';
import { Loaded, TextFilter } from '../ui/page.tsx';
import { Ago, Badge, Card, Copy, Segments } from '../ui/parts.tsx';
import { query } from './api.ts';
import {
  AssignDepositDocument,
  RefundOrderDocument,
  UnassignedDepositsDocument,
  type UnassignedDepositsQuery,
} from './generated/graphql.ts';
import { useMay } from './session.tsx';
import { type Action, Actions, send } from './shared.tsx';

type Deposit = UnassignedDepositsQuery['unassignedDeposits']['edges'][number]['node'];

const sizes = [
  ['enough', 'From the minimum on'],
  ['all', 'All'],
] as const;

const evidence = {
  name: 'evidence',
  label: 'Evidence',
  kind: 'long' as const,
  hint: 'What proves whose deposit it is: a message signed by the sender, or what the sending exchange confirms.',
};

/** Deposits that belong to no order. Two members assign each to an order, or return it. */
export function Unassigned(): ReactNode {
  const [txid, setTxid] = useState('');
  const [size, setSize] = useState<(typeof sizes)[number][0]>('enough');
  const filter = { txid: txid || null, withSmall: size === 'all' || txid !== '' };
  const deposits = useQuery(query('unassigned-deposits', UnassignedDepositsDocument, filter));
  return (
    <Card title="Deposits without an order" flush>
      <div className="body row">
        <TextFilter label="Transaction" value={txid} onChange={setTxid} width={24} />
        <Segments label="Size" value={size} choices={sizes} onChange={setSize} />
      </div>
      <Loaded of={deposits} lines={3}>
        {({ unassignedDeposits: { edges, pageInfo } }) =>
          edges.length === 0 ? (
            <p className="muted body">No deposit waits for an order.</p>
          ) : (
            <>
              <ul className="queue">
                {edges.map(({ node }) => (
                  <Row key={node.id} deposit={node} />
                ))}
              </ul>
              {pageInfo.hasNextPage ? (
                <p className="muted body">Only the newest are shown. Look for others by their transaction.</p>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function Row({ deposit }: { deposit: Deposit }): ReactNode {
  const may = useMay();
  const { amount, coin, network, txid, tag, problem, seenAt, state } = deposit;
  return (
    <li>
      <span className="kind">
        <Badge tone={problem ? 'warn' : 'plain'}>{problem ? words(problem) : 'Below the minimum'}</Badge>
      </span>
      <span className="subject">
        {amount} {coin} {network === coin ? null : <span className="muted small">{network}</span>}
      </span>
      <span className="detail">
        <Copy text={txid} label="transaction" />
        <br />
        <span className="muted small">
          {tag === null ? 'no tag' : `tag ${tag}`}
          {state === 'CREDITED' ? '' : ' · not confirmed yet'}
        </span>
      </span>
      <span className="age">
        <Ago at={seenAt} />
      </span>
      {may('orders:act') && state === 'CREDITED' ? <Actions of={actionsOf(deposit)} small /> : null}
    </li>
  );
}

function actionsOf({ id: depositId, amount, coin, network }: Deposit): Action[] {
  return [
    {
      name: 'Assign',
      title: `Assign ${amount} ${coin} to an order`,
      about: 'It counts as if it had come with the tag of the order: by its time, its coin and its amount.',
      needsSecond: true,
      fields: [{ name: 'orderId', label: 'Order', hint: 'Its short id.' }, evidence],
      run: ({ orderId = '', evidence: proof = '', reason = '' }) =>
        send(AssignDepositDocument, { input: { depositId, orderId: orderId.trim(), evidence: proof }, reason }),
    },
    {
      name: 'Return',
      title: `Return ${amount} ${coin}`,
      about:
        'Sends it, less the network fee, to the address that its owner names. Never take the address of the sender from the chain: it may belong to an exchange.',
      needsSecond: true,
      fields: [
        { name: 'address', label: 'Address', hint: `On ${network}` },
        { name: 'tag', label: 'Tag or memo', isOptional: true },
        evidence,
      ],
      run: ({ address = '', tag = '', evidence: proof = '', reason = '' }) =>
        send(RefundOrderDocument, {
          input: { depositId, address: address.trim(), ...(tag ? { tag } : {}), evidence: proof },
          reason,
        }),
    },
  ];
}
