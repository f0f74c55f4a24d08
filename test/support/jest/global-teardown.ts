import { rm } from 'node:fs/promises';

export default async function teardown(): Promise<void> {
  await (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres?.();
  const { TEST_DATA_DIR } = process.env;
  if (TEST_DATA_DIR) await rm(TEST_DATA_DIR, { recursive: true, force: true });
}
