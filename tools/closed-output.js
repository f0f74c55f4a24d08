// Loaded into every program that tools/run.js runs: a closed pipe ends its output, not the program.
import { ignoreClosedOutput } from '../src/app/closed-output.ts';

ignoreClosedOutput();
