import { type GraphQLFieldConfig, type GraphQLSchema, isObjectType } from 'graphql';
import { type AuthChecker, Authorized, Extensions } from 'type-graphql';
import { isPermitted, type Permission, permissions } from '../../../accounts/staff/permissions.ts';
import { AppError } from '../../../base/errors.ts';
import type { GraphqlContext } from './context.ts';

/** Sets the permission that a member of staff needs to use a field. Every root field has one. */
export function RequiresPermission(permission: Permission): MethodDecorator & PropertyDecorator {
  const authorized = Authorized<Permission>(permission) as MethodDecorator & PropertyDecorator;
  const extended = Extensions({ permission }) as MethodDecorator & PropertyDecorator;
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor) => {
    authorized(target, key, descriptor as PropertyDescriptor);
    extended(target, key, descriptor as PropertyDescriptor);
  };
}

/** @throws AppError insufficient_role for a caller who lacks the permission. */
export function requirePermission({ caller: { role } }: GraphqlContext, permission: Permission): void {
  if (isPermitted(role, permission)) return;
  throw new AppError(
    'insufficient_role',
    `this needs ${permission}: the role ${permissions[permission]} or above; yours is ${role}`,
  );
}

/** Refuses a caller who is not signed in or lacks the permission. */
export const checkPermission: AuthChecker<GraphqlContext, Permission> = ({ context }, needed) => {
  for (const permission of needed) requirePermission(context, permission);
  return true;
};

/** Returns the permission that a field needs, or null. */
export function permissionOf(field: Pick<GraphQLFieldConfig<unknown, unknown>, 'extensions'>): Permission | null {
  return (field.extensions?.permission as Permission | undefined) ?? null;
}

/**
 * Adds to each description the permission that the field needs.
 *
 * @throws Error when a root field has no permission, because a forgotten permission would open the
 * field to every member.
 */
export function documentPermissions(schema: GraphQLSchema): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const permission = permissionOf(field);
      if (permission) {
        field.description = `${field.description ?? ''}\n\nNeeds \`${permission}\`: ${permissions[permission]} or above.`;
      } else if (roots.includes(type)) {
        throw new Error(`${type.name}.${field.name} carries no permission`);
      }
    }
  }
  return schema;
}
