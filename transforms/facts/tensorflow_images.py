"""What tf.image gives. Images have height, width and colours last; a batch may come first."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import Kind, Python, Sequence, Shape, Tensor
from .outcome import Outcome, Raises, outcome
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_values import EVERY, FLOATS, REALS, accept, tensor

RANDOM_IMAGES = (
    "random_brightness",
    "random_contrast",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
)


def same_image(accepted: frozenset[str] = EVERY, *effects: str) -> Rule:
    """An image (or a batch of them) in, one of its kind out."""

    def rule(a: Arguments) -> Outcome:
        x = tensor(a.at(0))
        accept(x.dtype, accepted)
        _image(x.shape)
        return outcome(x, *effects)

    return rule


def _image(shape: Shape) -> Shape:
    if shape is not None and len(shape) < 3:
        raise Raises(f"an image of {len(shape)} dimensions")
    return shape


def resize(a: Arguments) -> Kind:
    x = tensor(a["images"])
    accept(x.dtype, REALS)
    nearest = a["method"] in (
        Python("str", "nearest"),
        Python("str", "nearest_neighbor"),
    )
    dtype = (
        x.dtype
        if nearest
        else ("float32" if a["method"] == Python("str", "bilinear") else None)
    )
    height, width = _pair(a["size"])
    if a["preserve_aspect_ratio"] != Python("bool", False):
        height = width = None
    return Tensor(dtype, _resized(x.shape, height, width))


def _pair(kind: Kind) -> tuple[int | None, int | None]:
    found = values.integers(kind)
    if found is None:
        return None, None
    if len(found) != 2:
        raise Raises("a size is two numbers")
    return found[0], found[1]


def _resized(shape: Shape, height: int | None, width: int | None) -> Shape:
    if shape is None:
        return None
    if len(shape) not in (3, 4):
        raise Raises(f"an image of {len(shape)} dimensions")
    return (*shape[:-3], height, width, shape[-1])


def resized_to(dtype: str | None = None) -> Rule:
    """An image of the size that two arguments name."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["image"])
        height, width = a["target_height"], a["target_width"]
        size = map(values.constant_int, (height, width))
        return Tensor(dtype or x.dtype, _resized(x.shape, *size))

    return rule


def cropped(*effects: str) -> Rule:
    """tf.image.random_crop and its stateless kin."""

    def rule(a: Arguments) -> Outcome:
        x = tensor(a["value"])
        return outcome(Tensor(x.dtype, values.shape_of(a["size"])), *effects)

    return rule


def turned(a: Arguments) -> Kind:
    x = tensor(a["image"])
    quarter = values.constant_int(a["k"])
    _image(x.shape)
    if x.shape is None or quarter is None:
        return Tensor(
            x.dtype,
            None if x.shape is None else (*x.shape[:-3], None, None, x.shape[-1]),
        )
    height, width = x.shape[-3:-1]
    size = (height, width) if quarter % 2 == 0 else (width, height)
    return Tensor(x.dtype, (*x.shape[:-3], *size, x.shape[-1]))


def transposed_image(a: Arguments) -> Kind:
    x = tensor(a["image"])
    _image(x.shape)
    return Tensor(
        x.dtype,
        None
        if x.shape is None
        else (*x.shape[:-3], x.shape[-2], x.shape[-3], x.shape[-1]),
    )


def channels(before: int, after: int) -> Rule:
    """A change of colours: the size of the last dimension before and after."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["images"])
        if x.shape is None:
            return Tensor(x.dtype)
        _image(x.shape)
        values.equal_sizes(x.shape[-1], before)
        return Tensor(x.dtype, (*x.shape[:-1], after))

    return rule


def convert_image_dtype(a: Arguments) -> Kind:
    x = tensor(a["image"])
    return Tensor(values.dtype_of(a["dtype"]), x.shape)


def standardized(a: Arguments) -> Kind:
    x = tensor(a["image"])
    _image(x.shape)
    return Tensor(
        x.dtype if x.dtype in FLOATS else "float32" if x.dtype else None, x.shape
    )


def total_variation(a: Arguments) -> Kind:
    x = tensor(a["images"])
    accept(x.dtype, FLOATS)
    if x.shape is not None and len(x.shape) not in (3, 4):
        raise Raises(f"an image of {len(x.shape)} dimensions")
    return Tensor(x.dtype, None if x.shape is None else x.shape[:-3])


def compared(a: Arguments) -> Kind:
    """tf.image.psnr: one number for each pair of images."""
    x = tensor(a["a"])
    accept(x.dtype, REALS)
    return Tensor("float32", None if x.shape is None else (_image(x.shape) or ())[:-3])


def edges(a: Arguments) -> Kind:
    """tf.image.sobel_edges: two numbers for each pixel."""
    x = tensor(a["image"])
    accept(x.dtype, FLOATS)
    return Tensor(x.dtype, (*values.with_rank(x.shape, 4), 2))


def gradients(a: Arguments) -> Kind:
    x = tensor(a["image"])
    values.with_rank(x.shape, 4)
    return Sequence("tuple", (x, x))


def non_max_suppression(_: Arguments) -> Kind:
    return Tensor("int32", (None,))


def crop_and_resize(a: Arguments) -> Kind:
    x, boxes = tensor(a["image"]), tensor(a["boxes"])
    shape, rows = values.with_rank(x.shape, 4), values.with_rank(boxes.shape, 2)
    height, width = _pair(a["crop_size"])
    return Tensor("float32", (rows[0], height, width, shape[-1]))


RULES: dict[str, Rule] = {
    "image.resize": resize,
    **named("image.flip_left_right image.flip_up_down", same_image()),
    **named(
        "image.adjust_brightness image.adjust_contrast image.adjust_gamma "
        "image.adjust_saturation image.adjust_hue",
        same_image(REALS),
    ),
    **{f"image.{name}": same_image(REALS, "random") for name in RANDOM_IMAGES},
    **{f"image.stateless_{name}": same_image(REALS) for name in RANDOM_IMAGES},
    "image.random_crop": cropped("random"),
    "image.stateless_random_crop": cropped(),
    "image.rot90": turned,
    "image.transpose": transposed_image,
    "image.rgb_to_grayscale": channels(3, 1),
    "image.grayscale_to_rgb": channels(1, 3),
    **named("image.rgb_to_hsv image.hsv_to_rgb", channels(3, 3)),
    **named(
        "image.crop_to_bounding_box image.pad_to_bounding_box image.resize_with_crop_or_pad",
        resized_to(),
    ),
    "image.resize_with_pad": resized_to("float32"),
    "image.convert_image_dtype": convert_image_dtype,
    "image.per_image_standardization": standardized,
    "image.total_variation": total_variation,
    "image.psnr": compared,
    "image.sobel_edges": edges,
    "image.image_gradients": gradients,
    "image.non_max_suppression": non_max_suppression,
    "image.crop_and_resize": crop_and_resize,
}
