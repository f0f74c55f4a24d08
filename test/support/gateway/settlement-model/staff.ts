import { AppError } from '../../../../src/base/errors.ts';
import { addressExample } from '../../../../src/chains/addresses/address.ts';
import type { StaffActionName } from '../../../../src/settlement/rows/staff-action.entity.ts';
import type { StaffProposal } from '../../../../src/settlement/staff-actions.ts';
import type { World } from './world.ts';

/**
 * Lets one member propose an action on an order, and another approve it. False when the gateway
 * refuses it as impossible.
 */
export async function actAsStaff(world: World, action: StaffActionName, orderId: string): Promise<boolean> {
  const proposal = await proposalFor(world, action, orderId);
  return proposal !== null && act(world, proposal);
}

async function proposalFor(world: World, action: StaffActionName, orderId: string): Promise<StaffProposal | null> {
  const [proposer = ''] = world.staffIds;
  const asked = { action, staffId: proposer, reason: 'the model says so' };
  // This world trades with its own inventory, and its partner asks no markup.
  if (/^(venue_opening|venue_classify|commission_)/.test(action)) return null;
  if (action === 'resume_payouts') {
    const [hold] = await world.rows<{ id: string }>(
      'select id from payout_hold where closed_at is null order by opened_at limit 1',
    );
    return hold ? { ...asked, holdId: hold.id, acknowledges: true } : null;
  }
  if (action === 'refund') return { ...asked, orderId, ...(await refundTerms(world, orderId)) };
  return { ...asked, orderId, ...(action === 'venue_price' ? { price: '1' } : {}) };
}

/** An extra deposit is refunded before the main one, except of a failed order. */
async function refundTerms(
  world: World,
  orderId: string,
): Promise<{ recipient: { address: string; tag: null }; depositId?: string }> {
  const [row] = await world.rows<{ status: string; network: string; extra: string | null }>(
    `select status, network_from as network,
            (select id from deposit d where d.order_id = o.id and d.problem is not null order by seen_at, id limit 1)
              as extra
       from exchange_order o where id = $1`,
    [orderId],
  );
  if (!row) throw new Error(`no order ${orderId}`);
  const recipient = { address: addressExample(row.network), tag: null };
  return row.status === 'failed' || row.extra === null ? { recipient } : { recipient, depositId: row.extra };
}

async function act(world: World, proposal: StaffProposal): Promise<boolean> {
  const { staffActions } = world.gateway.settlement;
  try {
    const { id, state } = await staffActions.propose(proposal);
    if (state === 'proposed') await staffActions.approve(id, world.staffIds[1] ?? '');
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'action_not_possible') return false;
    throw error;
  }
}
