const fill = "x".repeat(400);

/** Returns the body of message `n`: its number, then filling that differs from every other body. */
export const bodyOf = (n: number): Buffer => Buffer.from(`${n} ${fill} ${n}`);
