//! Projections: the native A2A 1.0 types as another dialect shows and spells them. Each is a set of pure functions
//! without I/O, clock or randomness; none knows how its text or its messages travel. The fronts at the rim and the
//! services of older packages call them.

pub mod v03;
