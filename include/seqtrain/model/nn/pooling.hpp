#pragma once

namespace seqtrain::model {

/// A pooling makes what the head takes of the hidden states of a text's tokens.
enum class Pooling {
  first_token,  ///< the head takes the first token's states or, in a decoder, the last token's
  /// The head takes the last token's states, also if that is the token of padding, as in
  /// sentence-transformers. Decoders alone have it.
  last_token,
  mean,  ///< the head takes the mean of all tokens' states
  none   ///< the head takes all tokens' states, [rows, width, hidden], which are 0 for padding
};

}  // namespace seqtrain::model
