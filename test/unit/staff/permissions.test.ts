import { isPermitted, type Permission } from '../../../src/accounts/staff/permissions.ts';

// The table of rights under test/nets has every operation. These are the lines that matter most.
describe('a member of staff', () => {
  const money: Permission[] = ['orders:act', 'actions:decide', 'payouts:stop', 'payouts:resume'];
  const terms: Permission[] = ['currencies:write', 'partners:price', 'prices:override', 'staff:write'];
  const partners: Permission[] = ['partners:write', 'keys:write'];

  it.each([...money, ...partners])('needs to be an operator for %s', (permission) => {
    expect(isPermitted('viewer', permission)).toBe(false);
    expect(isPermitted('support', permission)).toBe(false);
    expect(isPermitted('operator', permission)).toBe(true);
  });

  it.each(terms)('needs to be an admin for %s', (permission) => {
    expect(isPermitted('operator', permission)).toBe(false);
    expect(isPermitted('admin', permission)).toBe(true);
  });
});
