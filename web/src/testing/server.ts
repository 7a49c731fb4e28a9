/** The API as tests tell it. */

import { setupServer } from "msw/node";

export const server = setupServer();
