import { operationRows } from '../../../src/accounts/members/rights.ts';
import { CabinetTurns } from '../../../src/surfaces/rest/cabinet/cabinet-turns.ts';

describe('the turns of the cabinet', () => {
  it('leave places to others while members wait for replays, which have their own connections', async () => {
    const turns = new CabinetTurns();
    const replays = Promise.withResolvers<void>();
    const waiting = ['a', 'a', 'b', 'b'].map((id, n) =>
      turns.work({ memberId: `${n}`, partner: { id } }, operationRows.replayWebhookEvents, () => replays.promise),
    );
    const other = { memberId: 'other', partner: { id: 'c' } };
    const isFree = turns.work(other, operationRows.getHome, async () => true);
    const isBusy = new Promise((resolve) => setImmediate(() => resolve(false)));
    expect(await Promise.race([isFree, isBusy])).toBe(true);
    replays.resolve();
    await Promise.all([...waiting, isFree]);
  });
});
