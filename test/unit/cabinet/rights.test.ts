import { memberRoles, operationRows, requireRight, rights, rightsOf } from '../../../src/accounts/members/rights.ts';

// Written out once more: a right that a role gains or loses by mistake must not pass.
const expected = {
  owner: Object.keys(rights),
  developer: [
    'orders:read',
    'orders:answer',
    'keys:read',
    'keys:write',
    'webhooks:read',
    'webhooks:write',
    'team:read',
  ],
  finance: ['orders:read', 'orders:answer', 'team:read', 'statements:read'],
  viewer: ['orders:read', 'team:read'],
};

describe('the roles of members', () => {
  it.each(memberRoles)('%s has the rights that the cabinet explains', (role) => {
    expect(rightsOf(role).toSorted()).toEqual(expected[role].toSorted());
  });

  it.each(memberRoles)('%s is refused every operation whose right it lacks, and no other', (role) => {
    for (const { needs } of Object.values(operationRows)) {
      const isAllowed = needs === 'nothing' || needs === 'member' || expected[role].includes(needs);
      const act = () => requireRight(role, needs);
      if (isAllowed) expect(act).not.toThrow();
      else expect(act).toThrow(expect.objectContaining({ kind: 'insufficient_role' }));
    }
  });

  it('give nothing of an account to a request without a session, but for its sign-in and invitation', () => {
    const open = Object.entries(operationRows).filter(([, { needs }]) => needs === 'nothing');
    expect(open.map(([id]) => id).toSorted()).toEqual([
      'acceptInvitation',
      'beginSignIn',
      'openInvitation',
      'signIn',
      'signOut',
    ]);
  });
});
