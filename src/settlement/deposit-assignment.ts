import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { AppError, notPossible } from '../base/errors.ts';
import { DepositAddress } from '../chains/addresses/deposit-address.entity.ts';
import { networkById } from '../chains/networks/networks.ts';
import { book, line, minus } from '../ledger/ledger.ts';
import { Deposit } from './rows/deposit.entity.ts';
import { Payment } from './rows/payment.entity.ts';
import { depositReference } from './rules/credit.ts';
import type { Settling } from './rules/settling.ts';

/** Characters of evidence. */
const mostEvidence = 4_000;

/** @throws AppError missing_field without evidence, invalid_value for too much of it. */
export function evidenceOf(evidence = ''): string {
  const text = evidence.trim();
  if (text === '') {
    throw new AppError(
      'missing_field',
      'a deposit without an order needs evidence: what proves whose it is, such as a signed message or the account at the sending exchange',
    );
  }
  if (text.length > mostEvidence)
    throw new AppError('invalid_value', `evidence has at most ${mostEvidence} characters`);
  return text;
}

/**
 * Keeps scans of a deposit's chain from storing anything before the transaction ends. A scan locks
 * the order of each deposit that it changes, so the order must not change between. It is locked
 * before any order, as a scan does.
 */
export async function lockChainOf(em: EntityManager, depositId: string | null): Promise<void> {
  await sql(
    em,
    'select from chain_state where chain = (select chain from deposit where id = ?::uuid) for no key update',
    [depositId],
  );
}

/**
 * Assigns a deposit without an order to an order, as if it had come with the order's tag. The next
 * steps judge it by its time, coin and amount. A deposit is assigned only once: one that already
 * has an order is refused.
 */
export async function assignDeposit(settling: Settling, depositId: string | null): Promise<void> {
  const { em, order, now } = settling;
  const deposit = await em.findOne(Deposit, { id: depositId ?? '' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!deposit) throw new AppError('deposit_not_found', 'there is no such deposit');
  if (deposit.orderId !== null) throw notPossible('the deposit belongs to an order already');
  refuseFunding(deposit);
  if (deposit.state !== 'credited') throw notPossible('the deposit is not confirmed on its chain');
  const address = await em.findOne(DepositAddress, { id: order.depositAddress.id });
  if (address?.address !== deposit.address || networkById(order.networkFrom)?.chain !== deposit.chain) {
    throw notPossible('the deposit came to another address than that of the order');
  }
  // Otherwise a user could make an order at a good rate for coins that came long before.
  if (deposit.arrivedBy < order.createdAt) {
    throw notPossible('the deposit came before the order was made; return it to its owner');
  }
  const [payment] = await em.find(Payment, { depositId: deposit.id }, { limit: 1 });
  if (payment)
    throw notPossible(`a return of the deposit was decided before, and is ${payment.state}; return it again`);
  deposit.orderId = order.id;
  deposit.problem = null;
  await book(em, {
    kind: 'deposit_assigned',
    reference: depositReference(deposit),
    orderId: order.id,
    at: now,
    lines: [line('suspense', deposit, deposit.amount), line('client', deposit, minus(deposit.amount))],
  });
}

/** Capital is owed to no user. */
export function refuseFunding({ purpose }: Deposit): void {
  if (purpose === 'funding') throw notPossible('the deposit is funding of the hot wallet');
}
