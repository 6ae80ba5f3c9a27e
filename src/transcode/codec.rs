//! The gRPC codec: prost, and then the checks of the schema, so that no service sees a message without its
//! required fields. Generated services name it; the transcoder makes the same checks on JSON.

use std::marker::PhantomData;

use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

use crate::domain::error::Error;
use crate::proto::schema::{Inspect, violations};

/// Room for a frame of HTTP/2 ...
const BUFFER: usize = 16 << 10;
/// ... which is full a little earlier: the last item should not make it grow, which copies what is there already.
const WRITE: usize = BUFFER - (1 << 10);

#[derive(Debug)]
pub struct CheckedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for CheckedCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for CheckedCodec<T, U>
where
    T: prost::Message + Send + 'static,
    U: prost::Message + Inspect + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = CheckedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::new(BUFFER, WRITE))
    }

    fn decoder(&mut self) -> Self::Decoder {
        CheckedDecoder(ProstCodec::<T, U>::default().decoder())
    }
}

#[derive(Debug)]
pub struct CheckedDecoder<U>(ProstDecoder<U>);

impl<U: prost::Message + Inspect + Default> Decoder for CheckedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let message = self.0.decode(buf).map_err(|status| Error::malformed("", status.message()))?;
        if U::REQUEST { message.map(checked).transpose() } else { Ok(message) }
    }
}

/// The message, or all that is wrong with it.
pub fn checked<T: Inspect>(message: T) -> Result<T, Status> {
    let violations = violations(&message);
    if violations.is_empty() { Ok(message) } else { Err(Error::invalid(violations).into()) }
}
