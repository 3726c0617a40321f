const fill = "x".repeat(400);

/** The body of message `n`: its number, then filling that tells it from every other. */
export const bodyOf = (n: number): Buffer => Buffer.from(`${n} ${fill} ${n}`);
