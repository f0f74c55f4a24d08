import { Recording } from './recording/recording.ts';
import { operationIds, recordOrder, recordPartnerApi } from './recording/partner-api.ts';
import { startWorld, type World } from './recording/world.ts';

let world: World;
let partnerApi: Recording;

beforeAll(async () => {
  world = await startWorld();
  partnerApi = new Recording('partner-api', world.names);
  await world.reach(async (name, order) => {
    await recordOrder(partnerApi, world, name, order);
  });
  await world.report();
  await recordPartnerApi(partnerApi, world);
});
afterAll(() => world?.stop());

it('a', () => {
  expect(operationIds('openapi.yaml').filter((id) => !partnerApi.called.has(id))).toEqual([]);
  expect(partnerApi.differences()).toEqual([]);
});
