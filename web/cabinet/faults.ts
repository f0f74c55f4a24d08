import type { FormFaults } from '../ui/dialog.tsx';
import { faultsOf } from '../ui/failure.ts';
import { PasskeyError } from './webauthn.ts';

/**
 * What is wrong with an action, for its form. A fault whose field the form has stands there alone.
 *
 * @param values What was typed, by field.
 */
export function actionFaults(error: unknown, values: Readonly<Record<string, string>> = {}): FormFaults {
  if (error instanceof PasskeyError) return { whole: error.message, fields: {} };
  const faults = faultsOf(error);
  const named = Object.keys(faults.fields);
  const isPlaced = named.length > 0 && named.every((name) => name in values);
  return isPlaced ? { ...faults, whole: null } : faults;
}
