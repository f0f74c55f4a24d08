import type { Foundation } from './foundation.ts';
import type { Signing } from './open-signing.ts';

/**
 * Makes deposit addresses ahead of time, for networks without public derivation. Only a process
 * that may sign does so.
 */
export async function openDepositPool({ closing, onProgress }: Foundation, signing: Signing | null): Promise<void> {
  if (!signing) return;
  const { pool } = signing;
  closing.add(() => signing.close());
  const made = await pool.open();
  if (made > 0) onProgress(`made ${made} deposit addresses for networks without public derivation`);
  pool.start();
  closing.add(() => pool.stop());
}
