import { AppError } from '../base/errors.ts';

/** The answer for every order that the caller cannot see. It does not tell the reason. */
export function orderNotFound(): AppError {
  return new AppError('order_not_found', 'there is no such order');
}
