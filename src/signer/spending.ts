import { chmodSync, mkdirSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ignoreMissing } from '../base/db/error-code.ts';

/** The amount and the fee that one signature lets out. */
export interface Spending {
  /** Names the signature. The same signature, claimed again after a crash, is one spending. */
  readonly key: string;
  readonly chain: string;
  /** Contract of the token, empty for the chain's own coin. */
  readonly asset: string;
  /** In the asset's smallest unit. */
  readonly amount: bigint;
  /** In the smallest unit of the chain's own coin. */
  readonly fee: bigint;
  /** A further name under which the amount is counted, where a part of it is limited. */
  readonly also?: string;
}

export class SpendingDay {
  readonly #keys = new Set<string>();
  readonly #amounts = new Map<string, bigint>();
  readonly #fees = new Map<string, bigint>();
  /** Unreadable lines, each left by a crash in the middle of a write. */
  damaged = 0;

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  amount(chain: string, asset: string): bigint {
    return this.#amounts.get(`${chain} ${asset}`) ?? 0n;
  }

  fees(chain: string): bigint {
    return this.#fees.get(chain) ?? 0n;
  }

  add({ key, chain, asset, amount, fee, also }: Spending): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    for (const name of also === undefined ? [chain] : [chain, also]) {
      this.#amounts.set(`${name} ${asset}`, this.amount(name, asset) + amount);
    }
    this.#fees.set(chain, this.fees(chain) + fee);
  }
}

/**
 * The spending, in one file for each day with a line for each signature. Lines are only appended,
 * and each is durable before `add` returns. One process at a time.
 */
export class SpendingBook {
  readonly #dir: string;
  #open: { readonly date: string; readonly day: SpendingDay; endsInLine: boolean } | undefined;

  /** Creates the directory, which only its owner may enter. */
  constructor(dir: string) {
    this.#dir = resolve(dir);
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    chmodSync(this.#dir, 0o700);
  }

  /** The spending of a day, such as '2026-01-31'. */
  async day(date: string): Promise<SpendingDay> {
    if (this.#open?.date === date) return this.#open.day;
    const text = (await readFile(this.#fileOf(date), 'utf8').catch(ignoreMissing)) ?? '';
    const day = new SpendingDay();
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const spending = parse(line);
      if (spending) day.add(spending);
      else day.damaged += 1;
    }
    this.#open = { date, day, endsInLine: text === '' || text.endsWith('\n') };
    return day;
  }

  async add(date: string, spending: Spending): Promise<void> {
    const day = await this.day(date);
    // The rest of a line that a crash cut stays a separate line.
    const start = this.#open?.endsInLine ? '' : '\n';
    // If the disk fails here, the day is read again, because it is unknown how much of the line was
    // written.
    this.#open = undefined;
    const handle = await open(this.#fileOf(date), 'a', 0o600);
    try {
      await handle.writeFile(`${start}${lineOf(spending)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const folder = await open(this.#dir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    day.add(spending);
    this.#open = { date, day, endsInLine: true };
  }

  #fileOf(date: string): string {
    return join(this.#dir, `${date}.jsonl`);
  }
}

function lineOf({ key, chain, asset, amount, fee, also }: Spending): string {
  return JSON.stringify({ key, chain, asset, amount: amount.toString(), fee: fee.toString(), also });
}

function parse(line: string): Spending | null {
  try {
    const { key, chain, asset, amount, fee, also } = JSON.parse(line);
    const names = [key, chain, asset, ...(also === undefined ? [] : [also])];
    const isWhole = names.every((text) => typeof text === 'string') && [amount, fee].every(isAmount);
    if (!isWhole) return null;
    return { key, chain, asset, amount: BigInt(amount), fee: BigInt(fee), ...(also === undefined ? {} : { also }) };
  } catch {
    return null;
  }
}

function isAmount(text: unknown): boolean {
  return typeof text === 'string' && /^\d{1,78}$/.test(text);
}
