import { type GraphQLFieldConfig, type GraphQLSchema, isObjectType } from 'graphql';
import { type AuthChecker, Authorized, Extensions } from 'type-graphql';
import { AppError } from '../errors.ts';
import { isPermitted, type Permission, permissions } from '../staff/permissions.ts';
import type { GraphqlContext } from './context.ts';

/** Says what a member of staff must be permitted to use a field. Every field of the roots carries one. */
export function Permit(permission: Permission): MethodDecorator & PropertyDecorator {
  const authorized = Authorized<Permission>(permission) as MethodDecorator & PropertyDecorator;
  const extended = Extensions({ permission }) as MethodDecorator & PropertyDecorator;
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor) => {
    authorized(target, key, descriptor as PropertyDescriptor);
    extended(target, key, descriptor as PropertyDescriptor);
  };
}

/** Refuses whoever is not signed in or not permitted. */
export const checkPermission: AuthChecker<GraphqlContext, Permission> = ({ context }, needed) => {
  for (const permission of needed) {
    if (!isPermitted(context.caller.role, permission)) {
      throw new AppError(
        'insufficient_role',
        `this needs ${permission}: the role ${permissions[permission]} or above; yours is ${context.caller.role}`,
      );
    }
  }
  return true;
};

/** The permission that a field carries, or null. */
export function permissionOf(field: Pick<GraphQLFieldConfig<unknown, unknown>, 'extensions'>): Permission | null {
  return (field.extensions?.permission as Permission | undefined) ?? null;
}

/**
 * Adds to each description what the field needs.
 *
 * @throws Error when a field of a root carries no permission: what nobody thought about must not be open.
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
