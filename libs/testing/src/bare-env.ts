/** Holds what a program needs of this environment that a test starts with variables of its own. */
const { PATH, NODE_COMPILE_CACHE } = process.env;

export const bareEnv = { PATH, NODE_COMPILE_CACHE };
