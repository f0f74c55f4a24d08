import type { FormFaults } from '../ui/dialog.tsx';
import { faultsOf, GatewayError } from '../ui/failure.ts';
import { PasskeyError } from './webauthn.ts';

/** Failures of the way to the gateway: what happened, and what to do next. */
const wayFaults: Readonly<Record<string, string>> = {
  offline: 'The gateway does not answer, so it is not known whether this was done. Look at the page, then try again.',
  unavailable: 'The gateway is busy or restarting. Try again in a moment.',
  unauthorized: 'Your session has ended. Sign in, then try again.',
};

/**
 * What is wrong with an action, for its form. A fault whose field the form has is shown only there.
 *
 * @param values What was typed, by field. The form keeps it.
 */
export function actionFaults(error: unknown, values: Readonly<Record<string, string>> = {}): FormFaults {
  if (error instanceof PasskeyError) return { whole: error.message, fields: {} };
  const faults = faultsOf(error);
  const way = error instanceof GatewayError ? wayFaults[error.kind] : undefined;
  if (way !== undefined) {
    const isTyped = Object.values(values).some((value) => value !== '');
    return { ...faults, whole: isTyped ? `${way} What you typed stays here.` : way };
  }
  const named = Object.keys(faults.fields);
  const isPlaced = named.length > 0 && named.every((name) => name in values);
  return isPlaced ? { ...faults, whole: null } : faults;
}
