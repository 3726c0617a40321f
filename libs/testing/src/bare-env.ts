/** The variables of this environment for programs that a test starts with an environment of its own. */
const { PATH, NODE_COMPILE_CACHE } = process.env;

export const bareEnv = { PATH, NODE_COMPILE_CACHE };
