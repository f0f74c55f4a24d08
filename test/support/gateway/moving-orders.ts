import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Dice } from './dice.ts';

/** Moves random orders back and forth in one transaction after the other. Some of them last. */
export async function moveAtRandom(
  databaseUrl: string,
  ids: readonly string[],
  dice: Dice,
  transactions: number,
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let n = 0; n < transactions; n++) {
      await client.query('begin');
      const chosen = Array.from({ length: 1 + Math.floor(dice.between(0, 3)) }, () => dice.pick(ids));
      const { rows } = await client.query<{ id: string; status: string; seq: number }>(
        `select id, status, event_seq as seq from exchange_order where id = any ($1) for update skip locked`,
        [chosen],
      );
      for (const { id, status, seq } of rows) {
        const isWaiting = status === 'waiting_deposit';
        const to = isWaiting ? 'confirming' : 'waiting_deposit';
        await client.query('update exchange_order set status = $2, event_seq = $3 where id = $1', [id, to, seq + 1]);
        await client.query(
          `insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
           select id, partner_id, $2, now(), $3, $4, $5, 'system' from exchange_order where id = $1`,
          [id, seq + 1, status, to, isWaiting ? 'deposit_seen' : 'deposit_lost'],
        );
        await sleep(dice.between(0, 5));
      }
      if (dice.chance(0.06)) await sleep(dice.between(1_000, 5_000));
      await client.query(dice.chance(0.1) ? 'rollback' : 'commit');
    }
  } finally {
    await client.end();
  }
}
