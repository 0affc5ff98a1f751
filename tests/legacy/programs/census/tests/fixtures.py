"""Lines of a census that nobody took."""
import random

import tensorflow as tf


def write_census(path, count, seed):
  rng = random.Random(seed)
  with tf.gfile.GFile(path, 'w') as f:
    for _ in range(count):
      education, years = rng.choice(
          [('HS-grad', 9), ('Some-college', 10), ('Bachelors', 13), ('Masters', 14)])
      age = rng.randint(18, 70)
      occupation = rng.choice(['Sales', 'Tech-support', 'Exec-managerial'])
      rich = years + (occupation == 'Exec-managerial') * 4 + (age > 35) * 2 >= 14
      f.write(','.join(str(x) for x in [
          age, rng.choice(['Private', 'State-gov', '?']), rng.randint(10000, 90000), education,
          years, 'Never-married', occupation, 'Own-child', 'White', 'Male',
          rng.randint(0, 3) * 10, 0, rng.randint(20, 60), 'United-States',
          '>50K' if rich else '<=50K']) + '\n')
