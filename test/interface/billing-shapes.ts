// Members of billing records as the interface document has them.
const customer = {
  required: 'email external_id id name provider_type updated_at',
  nullable: 'company_id deleted_at',
}
const companySubscription = {
  required: `cancel_at_period_end is_initial currency customer_external_id interval status subscription_external_id
    discounts products provider_type total_price`,
  nullable: 'cancel_at expired_at trial_end',
  optional: 'latest_invoice payment_method',
}

export const billingShapes = {
  customer,
  customerWithSubscriptions: { ...customer, required: `${customer.required} subscriptions` },
  subscriptionView: {
    required: `cancel_at_period_end created_at currency customer_external_id id interval status
      subscription_external_id discounts period_end period_start total_price products provider_type`,
    nullable: `application_id company_id default_payment_method_id cancel_at trial_end expired_at trial_end_setting`,
    optional: 'latest_invoice metadata payment_method',
  },
  subscribedProduct: {
    required: `billing_scheme created_at updated_at currency environment_id external_id id interval name
      price_external_id price_id subscription_id package_size price price_tier provider_type quantity usage_type`,
    nullable: 'billing_threshold interval_count meter_id price_decimal subscription_item_external_id',
  },
  discountView: {
    required:
      'coupon_id coupon_name discount_external_id duration subscription_external_id is_active started_at',
    nullable: `amount_off duration_in_months currency customer_facing_code promo_code_external_id ended_at percent_off`,
  },
  companySubscription,
  companyBillingEntitySubscription: {
    ...companySubscription,
    required: `${companySubscription.required} plan_name`,
    optional: `${companySubscription.optional} company`,
  },
  invoice: {
    required: `amount_due amount_paid amount_remaining ending_balance starting_balance subtotal collection_method
      currency customer_external_id environment_id id created_at updated_at provider_type total`,
    nullable: `company_id external_id payment_method_external_id subscription_external_id url due_date status`,
  },
  paymentMethod: {
    required: `created_at updated_at customer_external_id environment_id external_id id payment_method_type
      provider_type`,
    nullable: `account_last4 account_name bank_name billing_email billing_name card_brand card_last4 company_id
      card_exp_month card_exp_year`,
  },
  coupon: {
    required: 'account_id environment_id external_id id name is_active metadata provider_type times_redeemed',
    nullable: `amount_off duration_in_months max_redemptions currency duration percent_off valid_from valid_until`,
  },
  meter: { required: 'dispaly_name event_name event_payload_key external_price_id id provider_type' },
  profile: {
    required: `account_id company_id environment_id id collection_method created_at updated_at is_default provider_type
      gating_days payment_gating`,
    nullable: `billing_customer_id name payment_method_id days_until_due proration_behavior collector currency
      overdraft_limit purchase_order`,
  },
  details: {
    required: 'checkout_settings custom_fields tax_ids',
    nullable: 'email phone',
    optional: 'address',
  },
  customPlanBilling: {
    required: `activation_strategy company_id id plan_id created_at updated_at days_until_due send_invoice status
      plan_billing_source problems`,
    nullable: `external_invoice_id paid_at published_at billing_cycle_anchor prorate_first_period psp_invoice_url
      billing_start_date checkout_id migration_id`,
  },
}
