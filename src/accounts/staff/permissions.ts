import type { StaffRole } from './staff-member.entity.ts';
import { staffRoles } from './staff-member.entity.ts';

/**
 * Every permission of staff, each with the lowest role that has it. Each field of the staff API
 * names one of them.
 */
export const permissions = {
  'self:read': 'viewer',
  'self:sessions': 'viewer',
  'self:views': 'viewer',
  'orders:read': 'viewer',
  'partners:read': 'viewer',
  'currencies:read': 'viewer',
  'rates:read': 'viewer',
  'stats:read': 'viewer',
  'system:read': 'viewer',
  'treasury:read': 'viewer',
  'keys:read': 'support',
  'actions:read': 'support',
  'ledger:read': 'support',
  'orders:note': 'support',
  'orders:hold': 'support',
  'orders:export': 'support',
  'attention:take': 'support',
  'orders:act': 'operator',
  'attention:assign': 'operator',
  'actions:decide': 'operator',
  'treasury:decide': 'operator',
  'payouts:stop': 'operator',
  'payouts:resume': 'operator',
  'audit:read': 'operator',
  'partners:write': 'operator',
  'keys:write': 'operator',
  'currencies:switch': 'operator',
  'currencies:write': 'admin',
  'partners:price': 'admin',
  'prices:override': 'admin',
  'staff:read': 'admin',
  'staff:write': 'admin',
} as const satisfies Record<string, StaffRole>;

export type Permission = keyof typeof permissions;

/** Whether a role has a permission: each role has all permissions of the roles below it. */
export function isPermitted(role: StaffRole, permission: Permission): boolean {
  return staffRoles.indexOf(role) >= staffRoles.indexOf(permissions[permission]);
}

export function permissionsOf(role: StaffRole): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((permission) => isPermitted(role, permission));
}
