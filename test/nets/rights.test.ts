import { cabinetRights } from '../support/rights/cabinet-rights.ts';
import { pageRights } from '../support/rights/page-rights.ts';
import { partnerRights } from '../support/rights/partner-rights.ts';
import { type Cell, isRenewed, RightsRecord, refuseRenewalInCi } from '../support/rights/rights-record.ts';
import { Table } from '../support/rights/rights-surface.ts';
import { type RightsWorld, startRightsWorld } from '../support/rights/rights-world.ts';
import { staffRights } from '../support/rights/staff-rights.ts';

/**
 * What each kind of caller gets from each operation of the gateway, compared with the record in
 * test/nets/rights. `RIGHTS=renew` writes the record, if the invariants hold.
 */

// A bound for what hangs on a busy machine. An operation is asked some twenty times.
const hangMs = 900_000;

let world: RightsWorld;
beforeAll(async () => {
  refuseRenewalInCi();
  world = await startRightsWorld();
}, hangMs);
afterAll(() => world?.stop());

describe.each([partnerRights, cabinetRights, staffRights, pageRights])('$name', (surface) => {
  const record = new RightsRecord(surface.name);
  const measured: Cell[] = [];
  let measure: (operation: string) => Promise<Cell[]>;
  beforeAll(async () => {
    measure = await surface.open(world);
  }, hangMs);

  it.each(surface.operations)(
    '%s',
    async (operation) => {
      const cells = await measure(operation);
      measured.push(...cells);
      if (!isRenewed) expect(record.differences(operation, cells)).toEqual([]);
    },
    hangMs,
  );

  it('asks for no operation that is gone', () => {
    expect(surface.strangers).toEqual([]);
    if (isRenewed) return;
    expect(record.operations.filter((operation) => !surface.operations.includes(operation))).toEqual([]);
  });

  it.each(Object.entries(surface.invariants))('%s', (_name, broken) => {
    expect(broken(new Table(measured)).map(lineOf)).toEqual([]);
  });

  if (isRenewed) {
    it('is written', () => {
      const left = surface.operations.filter((name) => !measured.some(({ operation }) => operation === name));
      expect(left).toEqual([]);
      const table = new Table(measured);
      expect(Object.values(surface.invariants).flatMap((broken) => broken(table).map(lineOf))).toEqual([]);
      record.write(measured);
    });
  }
});

function lineOf({ operation, caller, got }: Cell): string {
  return [operation, caller, got].join(' | ');
}
