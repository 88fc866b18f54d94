/**
 * Returns 64 bits in which each bit of `value` changes about half of all bits: the mixing step of SplitMix64. The
 * results for 1, 2, 3 … look random, so this function makes both reproducible random numbers and hashes of keys.
 */
export function mixBits(value: bigint): bigint {
  let bits = BigInt.asUintN(64, value * 0x9e3779b97f4a7c15n)
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n)
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn)
  return bits ^ (bits >> 31n)
}

/** Returns a number from 0 to below 1 from the upper 32 of 64 bits. */
export const fractionOf = (bits: bigint): number => Number(bits >> 32n) / 2 ** 32
